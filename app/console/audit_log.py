"""The audit log on pages: titles of entries, the list with its filters, and downloads."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson
from flask import Response, request
from markupsafe import Markup, escape
from marshmallow import Schema

from ..accounts.service import Accounts
from ..audit.schemas import EntryFilter, EntryPage, Kinds, RecordRead, WorkspaceRecordRead
from ..audit.service import AuditLog, EntryItem
from ..broadcasts.sent import SentNotifications
from ..core.actions import PROVIDER_ACTOR, TOKEN_ACTOR, Action
from ..core.audit_log.models import AuditEntry
from ..core.context import current_frontdesk, service
from ..core.db.account_ids import serialize_id
from ..core.db.estimates import Estimate
from ..core.errors import Invalid
from ..core.types import AccountKey, JsonObject, Values
from ..core.web.paging import Slice
from ..core.web.replicas import reads_replica
from ..core.web.request_data import load_body
from ..core.web.responses import field_names
from ..extension.actions import AREAS
from ..notifications.models import SUBJECT
from ..workspaces.invitations.service import Invitations
from ..workspaces.service import Workspaces
from . import csv_files
from .admin.filters import days_to_timestamps, emails_by_id, error_messages, filter_values, today
from .csv_files import csv_lines, is_csv_name, release_connection
from .links import link_to, redirect
from .page_globals import moment, zone
from .texts import _, mark

ROWS = 50
# The number of results of a search, of each kind.
MAX_HITS = 8
# The area of actions that the application has declared.
APPLICATION = mark("Application")
# Filters that are shown above the list.
_TAGS = {"account": mark("About {who}"), "actor": mark("By {who}"), "workspace": mark("In {who}")}
_FILTERS = (*_TAGS, "target", "days", "since", "until")
# Periods until now, by their number of days.
_PERIODS = {"1": mark("Today"), "7": mark("7 days"), "30": mark("30 days")}
_REJECTED = ("failed", "refused", "reached", "reused", "suspected")
# Roles and statuses in titles; those of the application are shown as they are.
_NAMES = frozenset(
    (
        *(mark("root"), mark("admin"), mark("user"), mark("owner"), mark("member"), mark("guest")),
        *(mark("active"), mark("online"), mark("inactive"), mark("suspended")),
        *(mark("pending"), mark("deleting")),
    )
)
# Labels of properties in the data of entries; others are shown by their names.
_LABELS = frozenset(
    (
        *(mark("Email"), mark("Name"), mark("Password"), mark("Phone"), mark("Reason")),
        *(mark("Role"), mark("Status"), mark("Type")),
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


class ActionGroup(NamedTuple):
    """The choices of an area, which is a choice too: pairs of value and label."""

    value: str
    label: Markup
    options: Sequence[tuple[str, Markup]]


def action_groups(areas: Collection[str] = ()) -> list[ActionGroup]:
    """Return the actions and their variants by area, in alphabetical order; `areas` selects."""
    groups: dict[str, list[tuple[str, Markup]]] = {}
    for action in current_frontdesk.actions.catalogue.values():
        area = _area(action.name)
        if not areas or area in areas:
            titles = {action.name: action.title} | {
                f"{action.name}.{key}": variant.title for key, variant in action.variants.items()
            }
            options = ((value, _capitalize(_(title))) for value, title in titles.items())
            groups.setdefault(area, []).extend(options)
    found = [
        ActionGroup(area, title := _(area), [(area, title), *sorted(options, key=_by_label)])
        for area, options in groups.items()
    ]
    return sorted(found, key=lambda group: group.label)


def _by_label(option: tuple[str, Markup]) -> str:
    return option[1].casefold()


def _area(name: str) -> str:
    return AREAS.get(name.partition(".")[0], APPLICATION)


def _find_kinds(values: Iterable[str]) -> Kinds:
    """Return the kinds of entries for names of actions, of their variants and of areas."""
    actions, whole, parts = current_frontdesk.actions.catalogue, set(), dict[str, list[Any]]()
    for value in values:
        name, _dot, key = value.rpartition(".")
        if name in actions and key in actions[name].variants:
            parts.setdefault(name, []).append(actions[name].variants[key].where(AuditEntry.data))
        else:
            whole.update([each for each in actions if _area(each) == value] or [value])
    return {**parts, **dict.fromkeys(whole, ())}


class Hit(NamedTuple):
    """A result of the search: a filter with its value."""

    name: str
    value: str
    title: str
    detail: str = ""


class EntryList(NamedTuple):
    """The audit log on a page, with the start of its endpoints."""

    at: str
    find: Callable[[str], Iterable[Hit]]
    # A page of a workspace: only its entries, without data of clients. The variables of its path.
    workspace_id: int | None = None
    path: Values = MappingProxyType({})
    areas: Collection[str] = ()

    @property
    def schema(self) -> type[Schema]:
        return RecordRead if self.workspace_id is None else WorkspaceRecordRead

    def link(self, end: str, filters: Values, **others: object) -> str:
        return link_to(f".{self.at}_{end}", **{**self.path, **filters, **others})

    def filters(self) -> JsonObject:
        found: JsonObject = filter_values(_FILTERS)
        kinds = [each for each in request.args.getlist("type") if each]
        return {**found, "type": kinds} if kinds else found

    def load(self, given: JsonObject) -> EntryFilter.Input | None:
        """Return the filters, or None if no entry of a workspace can match.

        The result is the same for an address without an account and for an account without
        entries here: managers do not learn who has an account.
        """
        query: JsonObject = {**days_to_timestamps(given, starts="since", ends="until")}
        kinds, days = query.pop("type", ()), query.pop("days", "")
        if days in _PERIODS:
            query.setdefault("since", today(1 - int(days)))
        id_pattern = current_frontdesk.tables.account_ids.pattern
        # The API takes ids in these filters; the pages also accept email addresses.
        for name in ("account", "actor"):
            text = query.get(name, "")
            if "@" in text or (text and not re.fullmatch(id_pattern, text, re.ASCII)):
                found = service(Accounts).find(text)
                if found is None and self.workspace_id is not None:
                    return None
                if found is None:
                    raise Invalid.about(
                        name, _("No account has this address. For a deleted account, enter its ID.")
                    )
                query[name] = serialize_id(found.id)
        loaded: EntryFilter.Input = load_body(EntryFilter, query)
        if self.workspace_id is not None:
            loaded["workspace"] = self.workspace_id
        return {**loaded, "kinds": _find_kinds(kinds)} if kinds else loaded

    @reads_replica
    def read(self, filters: EntryFilter.Input | None) -> tuple[Slice, Estimate]:
        if filters is None:
            return Slice([]), Estimate(0, "exactly")
        log, position = service(AuditLog), filter_values(("after", "before"))
        try:
            page: EntryPage.Input = load_body(EntryPage, {**position, "limit": ROWS})
            found = log.page(filters, page, self.schema)
        except Invalid:
            # An invalid position means the first page.
            found = log.page(filters, {"limit": ROWS}, self.schema)
        if found.before or found.after:
            return found, log.count(filters, self.schema)
        return found, Estimate(len(found.rows), "exactly")

    def show(self, render: Callable[..., Response]) -> Response:
        """Return the page, or the redirect to the only result of a search."""
        filters, groups = self.filters(), action_groups(self.areas)
        search = filter_values(("search",)).get("search", "")
        hits = [*self.find(search), *_find_actions(search, groups)] if search else []
        if len(hits) == 1:
            return redirect(self.link("page", _with(filters, hits[0])))
        found, total, errors = Slice([]), None, list[Any]()
        try:
            if not search:
                found, total = self.read(self.load(filters))
        except Invalid as problem:
            errors = [*error_messages(problem)]
        swapped = {"account": filters.get("actor"), "actor": filters.get("account")}
        rows = build_entry_rows(found.rows)
        return render(
            status=422 if errors else 200,
            rows=rows,
            total=total,
            errors=errors,
            filters=filters,
            search=search,
            hits=[(hit, self.link("page", _with(filters, hit))) for hit in hits],
            chips=[*self._chips(filters, groups, (rows or [{}])[0])],
            groups=groups,
            periods=[("", _("Any time")), *((days, _(title)) for days, title in _PERIODS.items())],
            is_utc=zone() is None,
            page_url=self.link("page", {}),
            swap_url=self.link("page", {**filters, **swapped}),
            first_url=self.link("page", filters) if found.before else "",
            previous_url=self.link("page", filters, before=found.before) if found.before else "",
            next_url=self.link("page", filters, after=found.after) if found.after else "",
            csv_url=self.link("csv", filters),
            lines_url=self.link("file", filters),
        )

    def _chips(
        self, filters: JsonObject, groups: Sequence[ActionGroup], row: Values
    ) -> Iterator[tuple[Markup, str]]:
        """Yield what the list is filtered by, with the link without this filter."""
        for name, label in _TAGS.items():
            if value := filters.get(name):
                text = row.get(name) or (value if "@" in value else f"#{value}")
                yield _(label, who=text), self.link("page", {**filters, name: None})
        titles = {value: title for group in groups for value, title in group.options}
        for value in (kinds := filters.get("type", [])):
            others = [each for each in kinds if each != value]
            yield titles.get(value, escape(value)), self.link("page", {**filters, "type": others})

    def download(self, name: str) -> Response:
        """Return the matching entries as a file, the oldest first.

        The end of the name is the format: `.csv` or `.jsonl`.
        """
        given = self.filters()
        try:
            filters = self.load(given)
            release_connection()
            options: Any = {"write": _write_csv} if is_csv_name(name) else {}
            log = service(AuditLog)
            lines = log.export(filters, self.schema, **options) if filters else iter(())
        except Invalid:
            # The page shows the errors of the filters.
            return redirect(self.link("page", given))
        columns = dict.fromkeys((*_CSV_NAMES, *field_names(self.schema)))
        return csv_files.download(name, lines, columns)


def _find_actions(search: str, groups: Iterable[ActionGroup]) -> list[Hit]:
    text = search.casefold()
    found = (
        Hit("type", value, title, "" if value == group.value else group.label)
        for group in groups
        for value, title in group.options
        if text in title.casefold()
    )
    return [*islice(found, MAX_HITS)]


def _with(filters: JsonObject, hit: Hit) -> JsonObject:
    kinds = [*filters.get("type", ()), hit.value]
    return {**filters, hit.name: kinds if hit.name == "type" else hit.value}


def build_entry_rows(rows: Iterable[Values]) -> list[JsonObject]:
    """Return the rows for a page, with the names of their objects: a query for each kind."""
    rows, ids = list(rows), current_frontdesk.tables.account_ids
    ids_of_rows = [row[name] for row in rows for name in ("actor_id", "account_id")]
    known = emails_by_id(ids.from_text(each) for each in ids_of_rows if each is not None)
    workspaces = service(Workspaces).names(row["workspace_id"] for row in rows)
    targets = {(row["target_kind"], row["target_id"]) for row in rows if row["target_id"]}
    addresses, titles = service(Invitations).addresses, service(SentNotifications).titles
    objects = {
        (kind, str(key)): name
        for kind, find in (("invitation", addresses), (SUBJECT, titles))
        for key, name in find(int(i) for of, i in targets if of == kind and i.isdecimal()).items()
    }
    return [_entry_row(row, known, workspaces, objects) for row in rows]


def _entry_row(
    row: Values,
    known: Mapping[AccountKey, str],
    workspaces: Mapping[int, str],
    objects: Mapping[tuple[str, str], str],
) -> JsonObject:
    area, _dot, last = row["type"].partition(".")
    if row["actor_kind"] == "anonymous" and area in ("member", "invitation"):
        # An invited user who has just registered.
        row = {**row, "actor_id": row["account_id"]}
    data, target = row["data"], (row["target_kind"], row["target_id"])
    changes = [*_changes(data)]
    texts = (objects.get(target), data.get("name"), data.get("text"))
    return {
        **row,
        "title": entry_title(row),
        "is_rejected": last.endswith(_REJECTED),
        "day": moment(row["at"], "day"),
        "actor": actor_name(row, known),
        "account": known.get(row["account_id"], ""),
        "workspace": workspaces.get(row["workspace_id"], ""),
        "object": next((each for each in texts if each and isinstance(each, str)), ""),
        "changes": changes,
        "facts": [
            (_label(name), _as_text(value))
            for name, value in data.items()
            if name not in ("before", "after") and not (name == "changed" and changes)
        ],
    }


def _changes(data: Values) -> Iterator[tuple[str, str, str]]:
    """Yield each changed property with its old and new value."""
    before, after = data.get("before") or {}, data.get("after") or {}
    names = dict.fromkeys((*before, *after, *data.get("changed", ()))) if before or after else ()
    for name in names:
        yield _label(name), _as_text(before.get(name)), _as_text(after.get(name))


def _label(name: str) -> str:
    return _(name.capitalize()) if name.capitalize() in _LABELS else name.replace("_", " ")


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_as_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_as_text(item)}" for name, item in value.items())
    return str(value)


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
