"""The audit log on pages: titles of entries, the filter by action, and the downloads."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import orjson
from flask import Response, stream_with_context
from markupsafe import Markup, escape
from marshmallow import Schema

from ..accounts.service import Accounts
from ..audit.routes import JSON_LINES
from ..audit.schemas import RecordFilter, RecordRead
from ..audit.service import RecordItem, Records
from ..core.actions import Action
from ..core.context import current_frontdesk, service
from ..core.db.transaction import release
from ..core.types import Values
from ..core.web.request_data import load_body
from ..core.web.responses import field_names
from ..extension.actions import AREAS
from .csv_files import BYTE_ORDER_MARK, MIMETYPE, csv_lines
from .texts import _, mark

# The area of actions that the application has declared.
APPLICATION = mark("Application")
# The API takes ids in these filters; the pages also accept email addresses.
PERSON_FILTERS = ("account", "actor")
_CSV_NAMES = ("at", "title", "actor", "account")


def entry_title(row: Values, actions: Mapping[str, Action] | None = None) -> Markup:
    """Return the title of an entry; `actions` are the known ones, by default all."""
    known = current_frontdesk.actions.catalogue if actions is None else actions
    action = known.get(row["type"])
    if action is None:
        return escape(row["type"])
    title = action.title_of(row["data"])
    return _capitalize(_(title.text, **title.values))


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


def load_filters(query: Values) -> RecordFilter.Input:
    loaded: RecordFilter.Input = load_body(RecordFilter, query)
    return loaded


def download(
    name: str, filters: RecordFilter.Input | None, schema: type[Schema] = RecordRead
) -> Response:
    """Return the matching entries as a file, the oldest first; None matches no entry.

    The end of the name is the format: `.csv` or `.jsonl`.
    """
    if current_frontdesk.owns_application:
        # A slow client does not keep the connection of the queries so far.
        release(current_frontdesk.session)
    is_csv = name.endswith(".csv")
    options: Any = {"write": _write_csv} if is_csv else {}
    lines = service(Records).export(filters, schema, **options) if filters else iter(())
    if is_csv:
        columns = dict.fromkeys((*_CSV_NAMES, *field_names(schema)))
        lines = chain([BYTE_ORDER_MARK + csv_lines([columns])], lines)
    response = Response(stream_with_context(lines), mimetype=MIMETYPE if is_csv else JSON_LINES)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _write_csv(items: Sequence[RecordItem]) -> bytes:
    return csv_lines(_csv_rows(items))


def _csv_rows(items: Sequence[RecordItem]) -> Iterator[Collection[object]]:
    """Yield the rows with titles and email addresses, which need one query."""
    ids = {item[name] for item in items for name in ("actor_id", "account_id")} - {None}
    emails = service(Accounts).rows.emails(ids)
    for item in items:
        title = entry_title(item).unescape()
        names = item["at"], title, emails.get(item["actor_id"]), emails.get(item["account_id"])
        data = orjson.dumps(item["data"]).decode()
        yield {**dict(zip(_CSV_NAMES, names, strict=True)), **item, "data": data}.values()


def _capitalize(text: Markup) -> Markup:
    return text[:1].upper() + text[1:]
