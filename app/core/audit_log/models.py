from datetime import datetime

from sqlalchemy import JSON, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from ..db.base import Base, Id, UtcDateTime, account_key
from ..types import AccountKey, JsonObject

TYPE_LENGTH = 64
ADDRESS_LENGTH = 45
USER_AGENT_LENGTH = 255
REQUEST_ID_LENGTH = 128
TARGET_LENGTH = 255

# The index on `type` leaves out sign-ins, which are by far the most frequent entries.
MOST_FREQUENT = "login.succeeded"
NOT_FREQUENT = text(f"type <> '{MOST_FREQUENT}'")
_HAS_WORKSPACE = text("workspace_id IS NOT NULL")
_HAS_TARGET = text("target_id IS NOT NULL")


class AuditEntry(Base):
    """Who did what, to whom, when and from where.

    An entry is never changed and has no foreign keys, so it outlives the rows that it names.
    """

    __tablename__ = "frontdesk_events"
    __table_args__ = (
        Index("ix_frontdesk_events_at", "at", "id"),
        Index(
            "ix_frontdesk_events_type",
            "type",
            "at",
            "id",
            sqlite_where=NOT_FREQUENT,
            postgresql_where=NOT_FREQUENT,
        ),
        Index("ix_frontdesk_events_actor_id", "actor_id", "at", "id"),
        Index("ix_frontdesk_events_account_id", "account_id", "at", "id"),
        Index(
            "ix_frontdesk_events_workspace_id",
            "workspace_id",
            "at",
            "id",
            sqlite_where=_HAS_WORKSPACE,
            postgresql_where=_HAS_WORKSPACE,
        ),
        Index(
            "ix_frontdesk_events_target",
            "target_kind",
            "target_id",
            "at",
            "id",
            sqlite_where=_HAS_TARGET,
            postgresql_where=_HAS_TARGET,
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    type: Mapped[str] = mapped_column(String(TYPE_LENGTH))
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    actor_kind: Mapped[str] = mapped_column(String(20))
    actor_id: Mapped[AccountKey | None] = account_key(ondelete=None, nullable=True)
    # The affected account: the acting account, unless another one is affected.
    account_id: Mapped[AccountKey | None] = account_key(ondelete=None, nullable=True)
    workspace_id: Mapped[int | None] = mapped_column(Id)
    target_kind: Mapped[str | None] = mapped_column(String(TYPE_LENGTH))
    target_id: Mapped[str | None] = mapped_column(String(TARGET_LENGTH))
    address: Mapped[str | None] = mapped_column(String(ADDRESS_LENGTH))
    user_agent: Mapped[str | None] = mapped_column(String(USER_AGENT_LENGTH))
    request_id: Mapped[str | None] = mapped_column(String(REQUEST_ID_LENGTH))
    data: Mapped[JsonObject] = mapped_column(JSON)
