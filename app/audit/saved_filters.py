"""Filters of the audit log that an admin has saved under a name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Index, String, delete, func, select, update
from sqlalchemy.orm import Mapped, mapped_column

from ..core.data_export import DataSubject, ExportReader
from ..core.db.base import Base, Id, account_key
from ..core.db.transaction import AnySession, insert_new, transaction
from ..core.errors import QuotaReached
from ..core.types import AccountKey

NAME_LENGTH = 80
QUERY_LENGTH = 1000
MAX_FILTERS = 30


class SavedFilter(Base):
    __tablename__ = "frontdesk_saved_filters"
    __table_args__ = (
        Index("ix_frontdesk_saved_filters_account_id", "account_id", "name", unique=True),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key()
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    # The query string of the page.
    query: Mapped[str] = mapped_column(String(QUERY_LENGTH))


@dataclass(eq=False)
class SavedFilters:
    session: AnySession

    def list(self, account_id: AccountKey) -> Sequence[SavedFilter]:
        found = select(SavedFilter).where(SavedFilter.account_id == account_id)
        return self.session.scalars(found.order_by(SavedFilter.name)).all()

    def save(self, account_id: AccountKey, name: str, query: str) -> None:
        """Save a filter, or replace the one with this name."""
        own = SavedFilter.account_id == account_id
        with transaction(self.session) as session:
            count = session.scalar(select(func.count()).select_from(SavedFilter).where(own)) or 0
            named = update(SavedFilter).where(own, SavedFilter.name == name)
            if session.scalar(named.values(query=query).returning(SavedFilter.id)) is not None:
                return
            if count >= MAX_FILTERS:
                raise QuotaReached
            insert_new(session, SavedFilter, account_id=account_id, name=name, query=query)

    def delete(self, account_id: AccountKey, filter_id: int) -> None:
        own = SavedFilter.account_id == account_id
        with transaction(self.session) as session:
            session.execute(delete(SavedFilter).where(own, SavedFilter.id == filter_id))


def export_saved_filters(
    subject: DataSubject, reader: ExportReader
) -> Iterator[tuple[str, object]]:
    if reader.has(SavedFilter):
        found = select(SavedFilter.id, SavedFilter.name, SavedFilter.query).where(
            SavedFilter.account_id == subject.id
        )
        yield "saved_filters.jsonl", reader.rows(found)
