from datetime import date, datetime

from sqlalchemy import JSON, String
from sqlalchemy.orm import Mapped, mapped_column

from ..core.db.base import SEARCHED_NAME, Base, Id, UtcDateTime, account_key
from ..core.types import AccountKey, JsonObject

URL_LENGTH = 2048


class Profile(Base):
    """The profile of an account. The unique index allows one for each account."""

    __tablename__ = "frontdesk_profiles"
    __table_args__ = {"sqlite_autoincrement": True}

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key(unique=True)
    # The schema for creation decides which of these are required.
    first_name: Mapped[str | None] = mapped_column(String(100), info={SEARCHED_NAME: True})
    last_name: Mapped[str | None] = mapped_column(String(100), info={SEARCHED_NAME: True})
    date_of_birth: Mapped[date | None]
    gender: Mapped[str | None] = mapped_column(String(50))
    marital_status: Mapped[str | None] = mapped_column(String(50))
    phone: Mapped[str | None] = mapped_column(String(50))
    address: Mapped[str | None] = mapped_column(String(255))
    city: Mapped[str | None] = mapped_column(String(100))
    state: Mapped[str | None] = mapped_column(String(100))
    country: Mapped[str | None] = mapped_column(String(100))
    postal_code: Mapped[str | None] = mapped_column(String(20))
    bio: Mapped[str | None] = mapped_column(String(2000))
    # The URL of a picture, or the name of a stored one; never both.
    avatar: Mapped[str | None] = mapped_column(String(URL_LENGTH))
    avatar_file: Mapped[str | None] = mapped_column(String(64), unique=True)
    # Additional properties of clients.
    extra: Mapped[JsonObject] = mapped_column(JSON, default=dict)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)


# The columns that clients read and write. All other names, also `extra` and `avatar_file`, are
# additional properties.
READ_ONLY = frozenset(("id", "account_id", "created_at", "updated_at"))
PROPERTIES = frozenset(Profile.__table__.columns.keys()) - {"avatar_file", "extra"}
WRITABLE = PROPERTIES - READ_ONLY
