"""The inbox of an account. Every statement has its receiver as a condition."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any

import orjson
from sqlalchemy import (
    ColumnElement,
    ColumnExpressionArgument,
    Select,
    SQLColumnExpression,
    Text,
    bindparam,
    cast,
    delete,
    func,
    not_,
    select,
    update,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from ..core.db.rows import Rows
from ..core.db.transaction import AnySession, execute_bulk, extended_timeout, transaction
from ..core.types import AccountKey
from ..core.web.responses import field_names, row_serializer
from ..workspaces.models import ACTIVE, Member, Workspace
from .errors import NotificationNotFound
from .models import InboxItem, Notification
from .personal import PersonalFields
from .schemas import InboxItemRow

# Values that are serialized as JSON without a schema.
Item = dict[str, Any]
Conditions = tuple[ColumnExpressionArgument[bool], ...]

_UNREAD = not_(InboxItem.is_read)
# The condition for unread items is that of the partial index, which is only then used.
_FILTERS: Mapping[bool | None, Conditions] = {
    None: (),
    True: (InboxItem.is_read,),
    False: (_UNREAD,),
}
# The bounds of a page. A query with both would be planned as if only few items were between them,
# and sort all of these.
_BOUNDS: Mapping[str, Conditions] = {
    "": (),
    "before": (InboxItem.id < bindparam("before"),),
    "after": (InboxItem.id > bindparam("after"),),
}


_OWN_WORKSPACE = (
    select(Member.workspace_id)
    .join(Workspace, Workspace.id == Member.workspace_id)
    .where(
        Workspace.slug == bindparam("workspace"),
        Member.account_id == bindparam("receiver_id"),
        Member.status == ACTIVE,
    )
    .scalar_subquery()
)
# By the name of their parameter.
_SUBJECTS: Mapping[str, ColumnElement[bool]] = {
    "workspace": Notification.workspace_id == _OWN_WORKSPACE,
    "kind": Notification.kind == bindparam("kind"),
    "sender": Notification.notification_type == bindparam("sender"),
}


class JsonText(TypeDecorator[Any]):
    """A JSON column read as text, since orjson parses it faster than the database's driver."""

    impl = Text
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        return orjson.loads


@lru_cache(maxsize=256)
def _parse_channels(text: str) -> tuple[str, ...]:
    """Return the channels, of which most notifications have the same."""
    return tuple(orjson.loads(text))


# The read schema decides which columns are shown.
_read_item = row_serializer(InboxItemRow)


def _column(name: str) -> SQLColumnExpression[Any]:
    """Return the column of the item's row or of its notification."""
    if name in ("channels", "data"):
        # Parsed by `_items`.
        return cast(getattr(Notification, name), Text).label(name)
    found: SQLColumnExpression[Any] = getattr(
        InboxItem if hasattr(InboxItem, name) else Notification, name
    )
    return found


def _select_items() -> Select[Any]:
    columns = (_column(name) for name in field_names(InboxItemRow))
    items = select(*columns).join(Notification, Notification.id == InboxItem.notification_id)
    return items.where(InboxItem.receiver_id == bindparam("receiver_id"))


def _select_page(*conditions: ColumnExpressionArgument[bool]) -> Select[Any]:
    newest_first = _select_items().where(*conditions).order_by(InboxItem.id.desc())
    return newest_first.limit(bindparam("limit")).offset(bindparam("offset"))


def select_unread() -> Select[int]:
    """Return the query for the number of unread items of the parameter `receiver_id`."""
    items = select(func.count()).select_from(InboxItem)
    return items.where(InboxItem.receiver_id == bindparam("receiver_id"), _UNREAD)


class Inbox:
    def __init__(self, session: AnySession, fields: PersonalFields) -> None:
        self.session = session
        self.fields = fields
        # Queries are built when first used: building all of them takes a seventh of the time of
        # `create_app`.
        self._pages: dict[tuple[object, ...], Rows] = {}

    @cached_property
    def _item(self) -> Rows:
        return Rows(_select_items().where(InboxItem.id == bindparam("item_id")))

    @cached_property
    def _unread(self) -> Rows:
        return Rows(select_unread())

    def page(
        self,
        receiver_id: AccountKey,
        *,
        limit: int,
        offset: int = 0,
        before: int | None = None,
        after: int | None = None,
        is_read: bool | None = None,
        workspace: str | None = None,
        kind: str | None = None,
        sender: str | None = None,
    ) -> list[Item]:
        """Return the newest items, or the newest `before` or `after` an item, which may be deleted.

        `workspace`: the slug of a workspace of the receiver; an unknown one has no items.
        `sender`: `admin` or `system`.

        A page `before` an item far down costs the same as the first; one with an offset does not.
        """
        bound = "before" if before is not None else "after" if after is not None else ""
        filters = (is_read, bound, workspace is not None, kind is not None, sender is not None)
        query = self._pages.get(filters) or self._build(*filters)
        rows = query.read(
            self.session,
            receiver_id=receiver_id,
            limit=limit,
            offset=offset,
            before=before,
            after=after,
            workspace=workspace,
            kind=kind,
            sender=sender,
        )
        return self._items(receiver_id, rows)

    def _build(self, is_read: bool | None, bound: str, *is_about: bool) -> Rows:
        subjects = compress(_SUBJECTS.values(), is_about)
        query = Rows(_select_page(*_FILTERS[is_read], *_BOUNDS[bound], *subjects))
        self._pages[is_read, bound, *is_about] = query
        return query

    def _items(self, receiver_id: AccountKey, rows: Iterable[Any]) -> list[Item]:
        items = [_read_item(row) for row in rows]
        for item in items:
            item["channels"] = [*_parse_channels(item["channels"])]
            if item["data"] is not None:
                item["data"] = orjson.loads(item["data"])
        # The mark of personal fields, so that items without it need no further query.
        marked = [each for each in items if "{{" in each["message"] or "{{" in each["title"]]
        if marked:
            self.fields.fill_items(self.session, receiver_id, marked)
        return items

    def unread(self, receiver_id: AccountKey) -> int:
        return int(self._unread.read(self.session, receiver_id=receiver_id)[0][0])

    def get(self, receiver_id: AccountKey, item_id: int) -> Item:
        rows = self._item.read(self.session, receiver_id=receiver_id, item_id=item_id)
        if not rows:
            raise NotificationNotFound
        return self._items(receiver_id, rows)[0]

    def neighbors(
        self, receiver_id: AccountKey, item_id: int, is_read: bool | None = None, **about: str
    ) -> tuple[int | None, int | None]:
        """Return the ids of the notifications of the next newer and the next older item of a list.

        `about`: the workspace, kind and sender of the list's items, as of a page.
        """
        conditions = (*_FILTERS[is_read], *(_SUBJECTS[name] for name in about))
        own = select(InboxItem.notification_id).join(Notification).where(*conditions)
        own = own.where(InboxItem.receiver_id == bindparam("receiver_id"))
        newer = own.where(InboxItem.id > item_id).order_by(InboxItem.id).limit(1)
        older = own.where(InboxItem.id < item_id).order_by(InboxItem.id.desc()).limit(1)
        both = select(newer.scalar_subquery(), older.scalar_subquery())
        newer_id, older_id = self.session.execute(both, {"receiver_id": receiver_id, **about}).one()
        return newer_id, older_id

    def mark(self, receiver_id: AccountKey, notification_id: int, is_read: bool | None) -> Item:
        """Mark the item of a notification, found by the notification's id; None toggles it."""
        statement = (
            update(InboxItem)
            .where(
                InboxItem.receiver_id == receiver_id, InboxItem.notification_id == notification_id
            )
            .values(is_read=_UNREAD if is_read is None else is_read)
            .returning(InboxItem.id)
        )
        with transaction(self.session) as session:
            item_id = execute_bulk(session, statement).scalar_one_or_none()
            if item_id is None:
                raise NotificationNotFound
            return self.get(receiver_id, item_id)

    def mark_all(
        self, receiver_id: AccountKey, is_read: bool | None, item_ids: Sequence[int] | None = None
    ) -> int:
        """Mark items, or the whole inbox, with one statement; return the number of changes."""
        statement = update(InboxItem).where(InboxItem.receiver_id == receiver_id)
        if item_ids is not None:
            statement = statement.where(InboxItem.id.in_(item_ids))
        if is_read is None:
            statement = statement.values(is_read=_UNREAD)
        else:
            differs = _UNREAD if is_read else InboxItem.is_read
            statement = statement.where(differs).values(is_read=is_read)
        with transaction(self.session) as session, extended_timeout(self.session):
            return int(execute_bulk(session, statement).rowcount)

    def delete(self, receiver_id: AccountKey, item_id: int) -> Item:
        with transaction(self.session) as session:
            item = self.get(receiver_id, item_id)
            statement = delete(InboxItem).where(
                InboxItem.receiver_id == receiver_id, InboxItem.id == item_id
            )
            if not execute_bulk(session, statement).rowcount:
                raise NotificationNotFound  # another request has deleted it
            return item

    def delete_all(self, receiver_id: AccountKey, item_ids: Sequence[int]) -> int:
        """Delete items with one statement and return the number of deleted items."""
        own = (InboxItem.receiver_id == receiver_id, InboxItem.id.in_(item_ids))
        with transaction(self.session) as session:
            return int(execute_bulk(session, delete(InboxItem).where(*own)).rowcount)
