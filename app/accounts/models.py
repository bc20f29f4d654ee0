from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, String, and_, false, inspect, text
from sqlalchemy.orm import Mapped, mapped_column, validates

from ..core.db.base import Id, UtcDateTime, timestamp_literal
from ..core.types import AccountKey, AccountModel
from .addresses import fold

ROOT, USER = "root", "user"
ROLES = (ROOT, "admin", USER)
HASH_LENGTH = 255
LOCALE_LENGTH = 35
TIME_ZONE_LENGTH = 64
# The status of an account that must verify its email address before it may sign in.
PENDING = "pending"
SUSPENDED = "suspended"
# The status of an account in the grace period before its deletion.
DELETING = "deleting"
# Set on an object with a password that the application verified: its `state_of` at that time.
VERIFIED_STATE = "_frontdesk_verified_state"
STATUSES = ("active", "online", "inactive", SUSPENDED)
REASON_LENGTH = 500


class AccountLike(Protocol):
    """The columns that Frontdesk requires of an account. `last_login_date` is optional."""

    # Read only, so that a model may have one of the types.
    @property
    def id(self) -> AccountKey: ...

    email: str
    password_hash: str | None
    status: str
    role: str
    phone: str | None
    current_workspace_id: int | None
    created_at: datetime
    tokens_valid_from: datetime | None
    logged_out_at: datetime | None


class Viewer(Protocol):
    """What decides which accounts and profiles a caller sees: an account, or a value without an
    id and a role."""

    @property
    def id(self) -> AccountKey | None: ...

    @property
    def role(self) -> str: ...


REQUIRED = ("id", *AccountLike.__annotations__)
# Columns that an application's account model may leave out.
_OPTIONAL_MOMENTS = ("last_login_date", "email_unverified_since", "suspended_until")
OPTIONAL = (*_OPTIONAL_MOMENTS, "locale", "time_zone")
# Columns that owners may set in their own accounts.
OWNER_FIELDS = frozenset({"phone", "locale", "time_zone"})
MOMENTS = (*_OPTIONAL_MOMENTS, "created_at", "tokens_valid_from", "logged_out_at")


def queried_attributes(model: AccountModel) -> list[str]:
    """Return the names of the columns that Frontdesk reads from this model."""
    there = [name for name in OPTIONAL if getattr(model, name, None) is not None]
    return [*REQUIRED, *there]


def is_mapped(model: object) -> bool:
    return isinstance(model, type) and inspect(model, raiseerr=False) is not None


def _now() -> datetime:
    return datetime.now(UTC)


class AccountMixin:
    """The columns of an account, for your own account class.

    Add your own columns, and set an optional column to None to leave it out
    (`last_login_date = None`).

    - `id`: primary key. Declare another type to use UUIDs or strings.
    - `email`: email address and login name, stored in lower case; unique.
    - `password_hash`: hash of the password; None for an account without a password.
    - `status`: status such as `active`; `AUTH.ACTIVE_STATUSES` lists those that can sign in.
    - `role`: `root`, `admin`, `user`, or a role that `AUTH.ROLES` adds.
    - `phone`: phone number for SMS.
    - `last_login_date`: time of the last sign-in; optional.
    - `suspended_until`, `suspended_reason`: end and reason of a suspension; optional.
    - `current_workspace_id`: id of the current workspace; not a foreign key.
    - `created_at`: time of creation.
    - `tokens_valid_from`: access tokens that were issued earlier are invalid.
    - `logged_out_at`: time of the last sign-out, until the next sign-in.
    - `email_unverified_since`: None for a verified email address; optional.
    - `locale`, `time_zone`: language (BCP 47) and time zone (IANA); optional.

    Example::

        class Account(AccountMixin, db.Model):
            __tablename__ = "users"
            id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
            nickname: Mapped[str | None]
    """

    # An application's model may have any other type.
    __tablename__ = "accounts"
    # Otherwise SQLite would give the id of a deleted account to the next one.
    __table_args__: Any = {"sqlite_autoincrement": True}

    # An application may use another type: `id: Mapped[UUID] = mapped_column(primary_key=True, …)`.
    id: Mapped[Any] = mapped_column(Id, primary_key=True)
    # Stored in lower case, so that one index serves case-insensitive comparison.
    email: Mapped[str] = mapped_column(String(320), unique=True)
    # bcrypt hashes have 60 characters; imported hashes are longer.
    password_hash: Mapped[str | None] = mapped_column(String(HASH_LENGTH))
    # Server defaults let a migration add the column to a table that has rows.
    status: Mapped[str] = mapped_column(String(50), default="active", server_default="active")
    role: Mapped[str] = mapped_column(String(50), default="user", server_default="user")
    phone: Mapped[str | None] = mapped_column(String(32))
    if TYPE_CHECKING:
        last_login_date: Any  # may be None in its place
        suspended_until: Any
        suspended_reason: Any
    else:
        last_login_date: Mapped[datetime | None] = mapped_column(UtcDateTime)
        # The end of a suspension; ignored unless the account is suspended.
        suspended_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
        # Deferred: no request reads the reason.
        suspended_reason: Mapped[str | None] = mapped_column(String(REASON_LENGTH), deferred=True)
    # Not a foreign key: the application owns the accounts table.
    current_workspace_id: Mapped[int | None] = mapped_column(Id)
    created_at: Mapped[datetime] = mapped_column(
        UtcDateTime, default=_now, server_default=text("CURRENT_TIMESTAMP")
    )
    # Tokens issued before this time are invalid; None until the first revocation.
    tokens_valid_from: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # Set from a sign-out until the next sign-in; independent of the shared state store.
    logged_out_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # None if an operator, a provider or an email has verified the address.
    email_unverified_since: Mapped[datetime | None] = mapped_column(UtcDateTime)

    # The language (BCP 47) and time zone that the user chose.
    locale: Mapped[str | None] = mapped_column(String(LOCALE_LENGTH))
    time_zone: Mapped[str | None] = mapped_column(String(TIME_ZONE_LENGTH))

    @validates("email")
    def fold_email(self, _name: str, email: str) -> str:
        return fold(email)


class Suspension(NamedTuple):
    """A suspension; without a date it lasts until an admin lifts it."""

    until: datetime | None = None
    reason: str | None = None


def keeps_dates(model: AccountModel | None) -> bool:
    """Return whether the account model has a column for the end of a suspension."""
    return getattr(model, "suspended_until", None) is not None


def is_over(account: AccountLike, now: datetime) -> bool:
    if account.status != SUSPENDED:
        return False
    until: datetime | None = getattr(account, "suspended_until", None)
    if until is None:
        return False
    # An application may store times without an offset.
    return (until if until.tzinfo else until.replace(tzinfo=UTC)) <= now


def is_over_row(model: AccountModel, now: datetime) -> ColumnElement[bool]:
    """Return the condition of `is_over` for a query."""
    if not keeps_dates(model):
        return false()
    until = model.suspended_until
    is_past = until <= timestamp_literal(until, now)
    # Never NULL, so that its negation matches suspensions without an end.
    return and_(model.status == SUSPENDED, until.is_not(None), is_past)


def set_suspension(account: AccountLike, suspension: Suspension) -> None:
    """Store the suspension, or clear it: the date of an earlier one must not end a later one."""
    for name, value in (
        ("suspended_until", suspension.until),
        ("suspended_reason", suspension.reason),
    ):
        if getattr(type(account), name, None) is not None:
            setattr(account, name, value)
