"""The audit log for admins: filters, pages and downloads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from flask import Response, request

from ...accounts.service import Accounts
from ...audit import routes as audit_api
from ...core.context import current_frontdesk, service
from ...core.db.account_ids import serialize_id
from ...core.errors import Invalid
from ...core.types import AccountKey, JsonObject, Values
from ...core.web.paging import Slice
from ...workspaces.service import Workspaces
from ..api_calls import get_from_api
from ..audit_log import (
    PERSON_FILTERS,
    action_groups,
    actor_name,
    download,
    entry_title,
    load_filters,
)
from ..links import link_to, redirect
from ..pages import render_page
from ..texts import _
from .filters import (
    admins_only,
    days_to_timestamps,
    emails_by_id,
    error_messages,
    filter_values,
    link_with,
)

AT = "admin_events_page"
ROWS = 50
FILTERS = ("type", *PERSON_FILTERS, "workspace", "target", "since", "until")
_REJECTED = ("failed", "refused", "reached", "reused", "suspected")
_ENDED = ("deleted", "removed", "ended", "reset", "revoked", "unlinked", "pruned")


@admins_only
def admin_events_page() -> Response:
    filters = filter_values(FILTERS)
    position = filter_values(("after", "before"))
    errors: Sequence[str] = ()
    try:
        query = _parse_filters(filters)
        found = get_from_api(audit_api.list_events, query={**query, **position, "limit": ROWS})
    except Invalid as problem:
        found, errors = Slice([]), error_messages(problem)
    return render_page(
        "admin/events.html",
        status=422 if errors else 200,
        rows=build_entry_rows(found.rows),
        filters=filters,
        errors=errors,
        groups=action_groups(),
        more=any(name in filters for name in FILTERS[2:]),
        first_url=link_to(f".{AT}", **filters) if position else "",
        previous_url=link_with(f".{AT}", filters, before=found.before),
        next_url=link_with(f".{AT}", filters, after=found.after),
        csv_url=link_to(".admin_events_csv", **filters),
        lines_url=link_to(".admin_events_file", **filters),
    )


@admins_only
def admin_events_file() -> Response:
    return _download("events.jsonl")


@admins_only
def admin_events_csv() -> Response:
    return _download("events.csv")


def _download(name: str) -> Response:
    try:
        return download(name, load_filters(_parse_filters(filter_values(FILTERS))))
    except Invalid:
        # The page shows the errors of the filters.
        return redirect(link_to(f".{AT}", **request.args))


def _parse_filters(filters: Mapping[str, str]) -> JsonObject:
    """Return the query for the API: days as timestamps, and email addresses as ids."""
    query: JsonObject = days_to_timestamps(filters, starts="since", ends="until")
    for name in PERSON_FILTERS:
        if "@" in query.get(name, ""):
            found = service(Accounts).find(query[name])
            if found is None:
                raise Invalid.about(
                    name, _("No account has this address. For a deleted account, enter its ID.")
                )
            query[name] = serialize_id(found.id)
    return query


def build_entry_rows(rows: Iterable[Values]) -> list[JsonObject]:
    """Return the rows for a page, with titles, email addresses and names of workspaces."""
    rows, ids = list(rows), current_frontdesk.tables.account_ids
    ids_of_rows = [row[name] for row in rows for name in ("actor_id", "account_id")]
    known = emails_by_id(ids.from_text(each) for each in ids_of_rows if each is not None)
    workspaces = service(Workspaces).names(row["workspace_id"] for row in rows)
    return [_entry_row(row, known, workspaces) for row in rows]


def _entry_row(
    row: Values, known: Mapping[AccountKey, str], workspaces: Mapping[int, str]
) -> JsonObject:
    return {
        **row,
        "title": entry_title(row),
        "kind": _color(row["type"]),
        "actor": actor_name(row, known),
        "account": known.get(row["account_id"], ""),
        "workspace": workspaces.get(row["workspace_id"], ""),
        "changes": list(_changes(row["data"])),
        "facts": [
            (name, _as_text(value))
            for name, value in row["data"].items()
            if name not in ("before", "after")
        ],
    }


def _changes(data: Values) -> Iterator[tuple[str, str, str]]:
    """Yield each changed property with its old and new value."""
    before, after = data.get("before") or {}, data.get("after") or {}
    for name in [*before, *(each for each in after if each not in before)]:
        yield name, _as_text(before.get(name)), _as_text(after.get(name))


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_as_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_as_text(item)}" for name, item in value.items())
    return str(value)


def _color(name: str) -> str:
    last = name.rpartition(".")[2]
    if last.endswith(_REJECTED):
        return "bad"
    return "warn" if last in _ENDED else ""
