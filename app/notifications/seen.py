"""How far an account has seen its inbox.

The badge of a bell counts the unread items above that mark: what is new, not what was left unread.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import BindParameter, Select, bindparam, delete, func, not_, select

from ..accounts.models import AccountLike
from ..core.db.base import dialect_insert
from ..core.db.rows import Rows
from ..core.db.transaction import AnySession, transaction
from ..core.types import AccountKey
from .models import InboxItem, SeenMark

Counts = dict[str, int]


def _select_counts() -> Select[Any]:
    """Return the query for the parameter `receiver_id`, which is one probe of the partial index."""
    receiver_id: BindParameter[AccountKey] = bindparam("receiver_id")
    mark = select(SeenMark.item_id).where(SeenMark.account_id == receiver_id).scalar_subquery()
    unseen = func.count().filter(InboxItem.id > func.coalesce(mark, 0))
    counts: tuple[Any, ...] = (func.count(), unseen)
    items = select(*counts).select_from(InboxItem)
    return items.where(InboxItem.receiver_id == receiver_id, not_(InboxItem.is_read))


@dataclass(eq=False)
class SeenMarks:
    session: AnySession

    @cached_property
    def _counts(self) -> Rows:
        return Rows(_select_counts())

    def counts(self, account_id: AccountKey) -> Counts:
        """Return the numbers of unread and of unseen items."""
        [[unread, unseen]] = self._counts.read(self.session, receiver_id=account_id)
        return {"unread": unread, "unseen": unseen}

    def mark(self, account_id: AccountKey, item_id: int | None) -> Counts:
        """Move the mark up to an item of the account, or to its newest, and return the counts.

        With the id of no item, the mark moves to the next older item.
        """
        newest = (
            select(InboxItem.receiver_id, InboxItem.id)
            .where(InboxItem.receiver_id == account_id)
            .order_by(InboxItem.id.desc())
            .limit(1)
        )
        if item_id is not None:
            newest = newest.where(InboxItem.id <= item_id)
        insert = dialect_insert(self.session.get_bind().dialect)(SeenMark)
        statement = insert.from_select(["account_id", "item_id"], newest).on_conflict_do_update(
            index_elements=[SeenMark.account_id],
            set_={"item_id": insert.excluded.item_id},
            # Of two simultaneous requests, the one with the older item changes nothing.
            where=SeenMark.item_id < insert.excluded.item_id,
        )
        with transaction(self.session) as session:
            session.execute(statement)
            return self.counts(account_id)

    def remove(self, account: AccountLike) -> None:
        """Remove the mark, so that the owner of a reclaimed account sees what another has seen."""
        with transaction(self.session) as session:
            session.execute(delete(SeenMark).where(SeenMark.account_id == account.id))
