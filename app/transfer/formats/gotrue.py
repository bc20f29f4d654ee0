"""Users of GoTrue (Supabase Auth)."""

from ...core.clock import SystemClock
from ..account import ImportedAccount, RowError
from .fields import identities, required, text, timestamp
from .rows import Fields


def gotrue_account(row: Fields) -> ImportedAccount:
    """Read a row of `auth.users`."""
    if timestamp(row, "deleted_at") is not None:
        raise RowError("not_an_account", "The user was deleted.")
    banned = timestamp(row, "banned_until")
    confirmed = timestamp(row, "email_confirmed_at") or timestamp(row, "confirmed_at")
    phone = text(row, "phone")
    return ImportedAccount(
        email=required(row, "email"),
        id=row.get("id"),
        email_verified=confirmed is not None,
        # Empty for users without a password.
        password_hash=text(row, "encrypted_password"),
        role="user",
        status="suspended" if banned and banned > SystemClock().now() else "active",
        # GoTrue stores phone numbers without the plus sign.
        phone=f"+{phone}" if phone and not phone.startswith("+") else phone,
        created_at=timestamp(row, "created_at"),
        last_login_date=timestamp(row, "last_sign_in_at"),
        # Only if the query joined `auth.identities`.
        identities=identities(row, "identities", "provider", "provider_id"),
    )
