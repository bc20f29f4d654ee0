"""The audit log on pages: titles of entries, the filter by action, and the downloads."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import orjson
from flask import Response
from markupsafe import Markup, escape
from marshmallow import Schema

from ..accounts.service import Accounts
from ..audit.schemas import EntryFilter, RecordRead
from ..audit.service import AuditLog, EntryItem
from ..core.actions import PROVIDER_ACTOR, TOKEN_ACTOR, Action
from ..core.context import current_frontdesk, service
from ..core.types import AccountKey, Values
from ..core.web.request_data import load_body
from ..core.web.responses import field_names
from ..extension.actions import AREAS
from . import csv_files
from .csv_files import csv_lines, is_csv_name, release_connection
from .texts import _, mark

# The area of actions that the application has declared.
APPLICATION = mark("Application")
# The API takes ids in these filters; the pages also accept email addresses.
PERSON_FILTERS = ("account", "actor")
# Roles and statuses in titles; those of the application are shown as they are.
_NAMES = frozenset(
    (
        *(mark("root"), mark("admin"), mark("user"), mark("owner"), mark("member"), mark("guest")),
        *(mark("active"), mark("online"), mark("inactive"), mark("suspended")),
        *(mark("pending"), mark("deleting")),
    )
)
_CSV_NAMES = ("at", "title", "actor", "account")


def entry_title(row: Values, actions: Mapping[str, Action] | None = None) -> Markup:
    """Return the title of an entry; `actions` are the known ones, by default all."""
    known = current_frontdesk.actions.catalogue if actions is None else actions
    action = known.get(row["type"])
    if action is None:
        return escape(row["type"])
    title = action.title_of(row["data"])
    values = {
        name: _(value) if isinstance(value, str) and value in _NAMES else value
        for name, value in title.values.items()
    }
    return _capitalize(_(title.text, **values))


def actor_name(row: Values, emails: Mapping[AccountKey, str]) -> str:
    """Return the email address of an account that exists, or the name of a workspace's token or an
    identity provider."""
    if row["actor_kind"] == TOKEN_ACTOR:
        return _("Token {name}", name=row["data"]["token"]["name"])
    if row["actor_kind"] == PROVIDER_ACTOR:
        return _("Identity provider {name}", name=row["data"][PROVIDER_ACTOR])
    return emails.get(row["actor_id"], "")


def action_groups(areas: Collection[str] = ()) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the actions as groups of options, in alphabetical order; `areas` selects groups."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for action in current_frontdesk.actions.catalogue.values():
        area = AREAS.get(action.name.partition(".")[0], APPLICATION)
        if not areas or area in areas:
            groups.setdefault(_(area), []).append((action.name, _capitalize(_(action.title))))
    return [
        (area, sorted(options, key=lambda option: option[1].casefold()))
        for area, options in sorted(groups.items())
    ]


def load_filters(query: Values) -> EntryFilter.Input:
    loaded: EntryFilter.Input = load_body(EntryFilter, query)
    return loaded


def download(
    name: str, filters: EntryFilter.Input | None, schema: type[Schema] = RecordRead
) -> Response:
    """Return the matching entries as a file, the oldest first; None matches no entry.

    The end of the name is the format: `.csv` or `.jsonl`.
    """
    release_connection()
    options: Any = {"write": _write_csv} if is_csv_name(name) else {}
    lines = service(AuditLog).export(filters, schema, **options) if filters else iter(())
    return csv_files.download(name, lines, dict.fromkeys((*_CSV_NAMES, *field_names(schema))))


def _write_csv(items: Sequence[EntryItem]) -> bytes:
    return csv_lines(_csv_rows(items))


def _csv_rows(items: Sequence[EntryItem]) -> Iterator[Collection[object]]:
    """Yield the rows with titles and email addresses, which need one query."""
    ids = {item[name] for item in items for name in ("actor_id", "account_id")} - {None}
    emails = service(Accounts).rows.emails(ids)
    for item in items:
        title = entry_title(item).unescape()
        actor = escape(actor_name(item, emails)).unescape()
        names = item["at"], title, actor, emails.get(item["account_id"])
        data = orjson.dumps(item["data"]).decode()
        yield {**dict(zip(_CSV_NAMES, names, strict=True)), **item, "data": data}.values()


def _capitalize(text: Markup) -> Markup:
    return text[:1].upper() + text[1:]
