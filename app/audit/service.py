"""Reads, exports and prunes the audit log."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from marshmallow import Schema
from sqlalchemy import ColumnElement, Select, TextClause, and_, or_, select, tuple_

from ..core.actions import TOKEN_ACTOR, Action
from ..core.audit_log.models import MOST_FREQUENT, NOT_FREQUENT, AuditEntry
from ..core.clock import Clock
from ..core.coded_messages import NOT_A_PLACE, CodedMessage
from ..core.context import Context, Pruner
from ..core.data_export import DataExporter, DataSubject, ExportReader
from ..core.db.account_ids import MAX_ID
from ..core.db.estimates import Estimate, count_rows
from ..core.db.pruning import delete_in_batches
from ..core.db.transaction import AnySession, is_in_use, release, unprepared
from ..core.errors import Invalid
from ..core.types import AccountKey, Values
from ..core.web.paging import Slice, slice_of
from ..core.web.responses import field_names, row_serializer
from ..workspaces.lookup import is_entry_of
from .schemas import EntryFilter, EntryPage, Kinds, RecordRead, WorkspaceRecordRead
from .settings import AuditSettings

# Values that are serialized as JSON without a schema.
EntryItem = dict[str, Any]
Condition = ColumnElement[bool] | TextClause
BatchWriter = Callable[[Sequence[EntryItem]], bytes]

# How long the owner of an account sees its entries.
OWNER_PERIOD = timedelta(days=90)
BATCH_ROWS = 1_000
# Entries are counted up to this number.
MAX_COUNT = 1_000
# A page searches the data of this many entries, which no index has; the next page continues.
MAX_SEARCHED = 10_000
_ORDER = (AuditEntry.at, AuditEntry.id)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CURSOR = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})", re.ASCII)


def write_json_lines(items: Sequence[EntryItem]) -> bytes:
    return b"".join(orjson.dumps(item) + b"\n" for item in items)


@dataclass(eq=False)
class AuditLog:
    """Reads the audit log, newest first, in pages that new entries do not shift."""

    session: AnySession
    actions: Mapping[str, Action]
    clock: Clock

    def page(
        self, filters: EntryFilter.Input, page: EntryPage.Input, schema: type[Schema] = RecordRead
    ) -> Slice:
        # PostgreSQL's plan for several types depends on how frequent they are.
        with unprepared(self.session) if "kinds" in filters else nullcontext():
            return self._slice(schema, self._conditions(filters, schema), page, _content(filters))

    def count(
        self, filters: EntryFilter.Input, schema: type[Schema] = RecordRead
    ) -> Estimate | None:
        """Return the number of entries, exact up to MAX_COUNT; None if a page does not search all
        of them."""
        with unprepared(self.session):
            matching = select(AuditEntry.id).where(*self._conditions(filters, schema))
            newest = matching.order_by(*(each.desc() for each in _ORDER))
            found, end = self._search(newest, _content(filters))
            counted = count_rows(self.session, found.order_by(None), MAX_COUNT)
        return counted if end is None or counted.how == "over" else None

    def about_account(self, account_id: AccountKey, page: EntryPage.Input) -> Slice:
        return self._slice(RecordRead, [AuditEntry.account_id == account_id], page)

    def of_workspace(self, workspace_id: int, page: EntryPage.Input) -> Slice:
        return self._slice(WorkspaceRecordRead, [is_entry_of(workspace_id)], page)

    def of_account(self, account_id: AccountKey, page: EntryPage.Input) -> Slice:
        """Return the owner's page, without the IP addresses and devices of other actors."""
        recent = self.clock.now() - OWNER_PERIOD
        conditions = [AuditEntry.account_id == account_id, AuditEntry.at >= recent]
        found = self._slice(RecordRead, conditions, page)
        for item in found.rows:
            if _is_by_another(item, account_id):
                item |= {"address": None, "user_agent": None, "request_id": None}
        return found

    def export(
        self,
        filters: EntryFilter.Input,
        schema: type[Schema] = RecordRead,
        write: BatchWriter = write_json_lines,
    ) -> Iterator[bytes]:
        """Yield the entries as `write` returns them, the oldest first, one batch at a time."""
        conditions = [*self._conditions(filters, schema), *_content(filters)]
        in_order = _columns(schema).where(*conditions).order_by(*_ORDER)
        # A session that the application uses is not released.
        in_use = is_in_use(self.session)
        read = row_serializer(schema)

        def batch(query: Select[Any]) -> tuple[bytes, EntryItem | None]:
            items = [read(row) for row in self.session.execute(query.limit(BATCH_ROWS))]
            written = write(items)
            if not in_use:
                # A slow client does not keep a database connection.
                release(self.session)
            return written, items[-1] if items else None

        # The first batch is read before the response starts, so that errors are still reported.
        return _batches(in_order, batch, *batch(in_order))

    def _slice(
        self,
        schema: type[Schema],
        conditions: Sequence[Condition],
        page: EntryPage.Input,
        content: Sequence[Condition] = (),
    ) -> Slice:
        limit, is_backward = page["limit"], "before" in page
        query = _columns(schema).where(*conditions)
        if is_backward:
            query = query.where(tuple_(*_ORDER) > _parse_cursor(page["before"], "before"))
        elif "after" in page:
            query = query.where(tuple_(*_ORDER) < _parse_cursor(page["after"], "after"))
        in_order = query.order_by(*(each if is_backward else each.desc() for each in _ORDER))
        searched, end = self._search(in_order, content, is_backward=is_backward)
        rows = self.session.execute(searched.limit(limit + 1))
        found = slice_of(
            [*map(row_serializer(schema), rows)],
            limit,
            _create_cursor,
            is_first="after" not in page,
            is_backward=is_backward,
            read_first=lambda: self._slice(schema, conditions, {"limit": limit}, content),
        )
        return found._replace(after=found.after or (None if is_backward else end))

    def _search(
        self, in_order: Select[Any], content: Sequence[Condition], *, is_backward: bool = False
    ) -> tuple[Select[Any], str | None]:
        """Return the query with conditions on the data, and the cursor of the last entry that a
        page searches; None if it searches all."""
        if not content:
            return in_order, None
        nth = in_order.with_only_columns(*_ORDER).offset(MAX_SEARCHED - 1).limit(1)
        found, last = in_order.where(*content), self.session.execute(nth).first()
        if last is None:
            return found, None
        position, end = tuple_(*_ORDER), tuple(last)
        is_searched = position <= end if is_backward else position >= end
        return found.where(is_searched), _create_cursor(last._asdict())

    def _conditions(self, filters: EntryFilter.Input, schema: type[Schema]) -> list[Condition]:
        columns = (
            (AuditEntry.actor_id, filters["actor"]),
            (AuditEntry.account_id, filters["account"]),
            (AuditEntry.workspace_id, filters["workspace"]),
        )
        action = filters["type"]
        kinds: Kinds = filters.get("kinds") or ({action: ()} if action is not None else {})
        if not self.actions.keys() >= kinds.keys():
            # Without the error, a typing mistake would look like an empty audit log.
            raise Invalid.about(
                "type",
                CodedMessage(
                    "The audit log has no action with this name.",
                    "not_one_of",
                    choices=sorted(self.actions),
                ),
            )
        conditions: list[Condition] = [
            column == value for column, value in columns if value is not None
        ]
        if schema is WorkspaceRecordRead:
            conditions.append(is_entry_of(filters["workspace"]))
        if kinds:
            conditions += _of_kinds(kinds)
        if filters["target"] is not None:
            kind, colon, target_id = filters["target"].partition(":")
            if not (kind and colon and target_id):
                raise Invalid.about(
                    "target",
                    CodedMessage(
                        "Give its kind and id, such as `invitation:17`.",
                        "invalid_format",
                        expected="target",
                    ),
                )
            conditions += [AuditEntry.target_kind == kind, AuditEntry.target_id == target_id]
        if filters["since"] is not None:
            conditions.append(AuditEntry.at >= filters["since"])
        if filters["until"] is not None:
            conditions.append(AuditEntry.at < filters["until"])
        return conditions


def _of_kinds(kinds: Kinds) -> Iterator[Condition]:
    yield AuditEntry.type.in_([*kinds])
    if MOST_FREQUENT not in kinds:
        # The condition of the partial index: without it, the database does not use the index.
        yield NOT_FREQUENT


def _content(filters: EntryFilter.Input) -> list[Condition]:
    """Return the conditions on the data of entries."""
    kinds: Kinds = filters.get("kinds", {})
    if not any(kinds.values()):
        return []
    whole = AuditEntry.type.in_([name for name, variants in kinds.items() if not variants])
    parts = ((AuditEntry.type == name, or_(*each)) for name, each in kinds.items() if each)
    return [or_(whole, *(and_(*each) for each in parts))]


def _batches(
    in_order: Select[Any],
    batch: Callable[[Select[Any]], tuple[bytes, EntryItem | None]],
    written: bytes,
    last: EntryItem | None,
) -> Iterator[bytes]:
    while last is not None:
        yield written
        position = tuple_(AuditEntry.at, AuditEntry.id) > (last["at"], last["id"])
        written, last = batch(in_order.where(position))


def _columns(schema: object) -> Select[Any]:
    return select(*(getattr(AuditEntry, name) for name in field_names(schema)))


def _create_cursor(item: EntryItem) -> str:
    return f"{(item['at'] - _EPOCH) // _MICROSECOND}.{item['id']}"


def _parse_cursor(text: str, parameter: str) -> tuple[datetime, int]:
    found = _CURSOR.fullmatch(text)
    with suppress(OverflowError):
        if found is not None:
            moment = _EPOCH + int(found[1]) * _MICROSECOND
            return moment, min(int(found[2]), MAX_ID)
    raise Invalid.about(parameter, NOT_A_PLACE)


def export_entries(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    if reader.has(AuditEntry):
        events = reader.rows(_events(subject.id), "at", "id")
        yield "events.jsonl", (_without_client_data(subject.id, row) for row in events)


def _events(account_id: AccountKey) -> Any:
    return select(
        AuditEntry.id,
        AuditEntry.type,
        AuditEntry.at,
        AuditEntry.actor_kind,
        AuditEntry.actor_id,
        AuditEntry.workspace_id,
        AuditEntry.target_kind,
        AuditEntry.target_id,
        AuditEntry.address,
        AuditEntry.user_agent,
        AuditEntry.data,
    ).where(AuditEntry.account_id == account_id)


def _without_client_data(account_id: AccountKey, event: Values) -> Values:
    """Return the event without the IP address and device of another user who acted."""
    if _is_by_another(event, account_id):
        return {**event, "address": None, "user_agent": None}
    return event


def _is_by_another(entry: Values, account_id: AccountKey) -> bool:
    return entry["actor_kind"] == TOKEN_ACTOR or entry["actor_id"] not in (None, account_id)


@dataclass(eq=False)
class AuditLogRetention:
    session: AnySession
    clock: Clock
    settings: AuditSettings

    def prune(self, batch: int = 5_000) -> int:
        """Delete old entries and return their number."""
        if self.settings.KEEP_DAYS is None:
            return 0
        before = self.clock.now() - timedelta(days=self.settings.KEEP_DAYS)
        return delete_in_batches(
            self.session, AuditEntry, AuditEntry.at < before, batch=batch, order_by=AuditEntry.at
        )


def assemble(context: Context) -> None:
    context.contribute(DataExporter(export_entries))
    context.add(AuditLog(context.session, context.actions.catalogue, context.clock))
    settings = context.settings.of(AuditSettings)
    retention = AuditLogRetention(context.session, context.clock, settings)
    context.add(retention)
    context.contribute(Pruner("events", retention.prune))
