"""Users of GoTrue (Supabase Auth)."""

from collections.abc import Iterator

from ...core.clock import SystemClock
from ..account import ImportedAccount, ImportedIdentity, RowError
from .fields import objects, required, text, timestamp
from .rows import Fields

_GOOGLE = "https://accounts.google.com"


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
        identities=[*_google_identities(row)],
    )


def _google_identities(row: Fields) -> Iterator[ImportedIdentity]:
    """Yield the identities at Google, if the query joined `auth.identities`.

    Other providers, such as Apple, have another subject for each client: such accounts are linked
    again at the next sign-in.
    """
    for item in objects(row, "identities"):
        subject = item.get("provider_id")
        if item.get("provider") == "google" and isinstance(subject, str) and subject:
            yield ImportedIdentity(_GOOGLE, subject)
