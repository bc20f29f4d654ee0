from datetime import datetime

from sqlalchemy import JSON, BigInteger, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from ...core.db.base import Base, Id, UtcDateTime, account_key
from ...core.db.tables import WHEN_MOUNTED
from ...core.types import AccountKey

TOTP_KIND, PASSKEY_KIND = "totp", "passkey"
NAME_LENGTH = 64
CREDENTIAL_ID_LENGTH = 1023
DIGEST_LENGTH = 64
USER_AGENT_LENGTH = 255
ADDRESS_LENGTH = 45

_WHEN_MOUNTED = {"sqlite_autoincrement": True, "info": {WHEN_MOUNTED: True}}


class Authenticator(Base):
    """An authenticator of an account: an authenticator app (TOTP) or a passkey."""

    __tablename__ = "frontdesk_authenticators"
    __table_args__ = (
        Index("ix_frontdesk_authenticators_account_id", "account_id", "id"),
        _WHEN_MOUNTED,
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key()
    kind: Mapped[str] = mapped_column(String(10))
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # Unset until a first correct code. An unconfirmed authenticator cannot sign in.
    confirmed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # Apps: the encrypted secret, and the time step of the last used code.
    secret: Mapped[str | None] = mapped_column(String(255))
    last_step: Mapped[int | None] = mapped_column(BigInteger)
    # Passkeys. All passkeys of an account have the same user handle.
    user_handle: Mapped[bytes | None] = mapped_column(LargeBinary(64))
    credential_id: Mapped[bytes | None] = mapped_column(
        LargeBinary(CREDENTIAL_ID_LENGTH), unique=True
    )
    public_key: Mapped[bytes | None] = mapped_column(LargeBinary)
    sign_count: Mapped[int | None] = mapped_column(BigInteger)
    aaguid: Mapped[str | None] = mapped_column(String(36))
    transports: Mapped[list[str] | None] = mapped_column(JSON)
    backed_up: Mapped[bool | None]


class RecoveryCode(Base):
    """A single-use code for users who have lost their authenticators."""

    __tablename__ = "frontdesk_recovery_codes"
    __table_args__ = (
        Index("ix_frontdesk_recovery_codes_account_id", "account_id", "id"),
        _WHEN_MOUNTED,
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key()
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class TrustedDevice(Base):
    """A browser or program that needs no second factor for some days."""

    __tablename__ = "frontdesk_trusted_devices"
    __table_args__ = (
        Index("ix_frontdesk_trusted_devices_account_id", "account_id", "id"),
        _WHEN_MOUNTED,
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    account_id: Mapped[AccountKey] = account_key()
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    user_agent: Mapped[str | None] = mapped_column(String(USER_AGENT_LENGTH))
    ip: Mapped[str | None] = mapped_column(String(ADDRESS_LENGTH))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
