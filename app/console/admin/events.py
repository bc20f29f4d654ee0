"""Who did what, of everybody: filtered, page by page, and as a file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from flask import Response, request

from ...accounts.service import Accounts
from ...audit import routes as audit_api
from ...auth.decorators import active_account_required, roles_required
from ...core.actions import Action
from ...core.context import current_frontdesk, service
from ...core.db.account_ids import serialize_id
from ...core.errors import Invalid
from ...core.types import JsonObject, Values
from ...core.web.operation import hidden
from ..api_calls import ListPage, get_from_api, list_from_api
from ..navigation import ADMINS
from ..pages import page
from ..texts import _
from ..ways import go_to, to
from .reading import addresses, asked, faults_of, with_moments

AT = "admin_events_page"
ROWS = 50
# Those that the API takes; whom they name, a reader may also say by address.
PEOPLE = ("account", "actor")
FILTERS = ("type", *PEOPLE, "workspace", "target", "since", "until")
_REFUSED = ("failed", "refused", "reached", "reused", "suspected")
_ENDED = ("deleted", "removed", "ended", "reset", "revoked", "unlinked", "pruned")


@active_account_required
@roles_required(*ADMINS)
@hidden
def admin_events_page() -> Response:
    given = asked(FILTERS)
    place = asked(("after",))
    faults: Sequence[str] = ()
    try:
        query = _query(given)
        found = list_from_api(audit_api.list_events, query={**query, **place, "limit": ROWS})
    except Invalid as problem:
        found, faults = ListPage([], {}), faults_of(problem)
    return page(
        "admin/events.html",
        status=422 if faults else 200,
        rows=with_names(found.rows),
        given=given,
        faults=faults,
        types=_types(),
        more=any(name in given for name in FILTERS[2:]),
        first=to(f".{AT}", **given) if place else "",
        further=to(f".{AT}", **{**given, **found.further}) if found.further else "",
        file=to(".admin_events_file", **given),
    )


@active_account_required
@roles_required(*ADMINS)
@hidden
def admin_events_file() -> Response:
    """All that the filters let through, an event on each line, the oldest first."""
    try:
        lines: Response = get_from_api(audit_api.export_events, query=_query(asked(FILTERS)))
    except Invalid:
        # The page says what is wrong with them.
        return go_to(to(f".{AT}", **request.args))
    lines.headers["Content-Disposition"] = 'attachment; filename="events.jsonl"'
    return lines


def _query(given: Mapping[str, str]) -> JsonObject:
    query: JsonObject = with_moments(given, starts="since", ends="until")
    for name in PEOPLE:
        if "@" in query.get(name, ""):
            found = service(Accounts).find(query[name])
            if found is None:
                raise Invalid.about(name, "Nobody has this address; who is gone has an id still.")
            query[name] = serialize_id(found.id)
    return query


def _types() -> list[tuple[str, str]]:
    """Return each type with its title: Frontdesk's, then the application's own."""
    catalogue = current_frontdesk.actions.catalogue
    return [(action.name, _capital(_(action.title))) for action in catalogue.values()]


def with_names(rows: Iterable[Values]) -> list[JsonObject]:
    """Ready for a page: what happened in words, and whoever is named by their address."""
    rows, ids = list(rows), current_frontdesk.tables.account_ids
    people = [row[name] for row in rows for name in ("actor_id", "account_id")]
    known = addresses(ids.from_text(each) for each in people if each is not None)
    catalogue = current_frontdesk.actions.catalogue
    return [_told(row, known, catalogue.get(row["type"])) for row in rows]


def _told(row: Values, known: Mapping[Any, str], action: Action | None) -> JsonObject:
    return {
        **row,
        "what": _capital(_(action.title)) if action else row["type"],
        "kind": _color(row["type"]),
        "actor": known.get(row["actor_id"], ""),
        "account": known.get(row["account_id"], ""),
        "changes": list(_changes(row["data"])),
        "facts": [
            (name, _plain(value))
            for name, value in row["data"].items()
            if name not in ("before", "after")
        ],
    }


def _changes(data: Values) -> Iterator[tuple[str, str, str]]:
    """What was so before, and is so after it."""
    before, after = data.get("before") or {}, data.get("after") or {}
    for name in [*before, *(each for each in after if each not in before)]:
        yield name, _plain(before.get(name)), _plain(after.get(name))


def _plain(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value))
    return str(value)


def _color(name: str) -> str:
    last = name.rpartition(".")[2]
    if last.endswith(_REFUSED):
        return "bad"
    return "warn" if last in _ENDED else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
