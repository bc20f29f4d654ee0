"""An account's sign-in methods, without secrets, in its data export."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import select

from ..core.data_export import DataSubject, ExportReader
from .email_change.models import EmailChange
from .idp.models import Identity


def export_sign_in_data(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    # Loaded with the first export: a service without sessions and MFA does not load these.
    from .mfa.models import Authenticator, RecoveryCode, TrustedDevice
    from .sessions.models import AccountSession

    for name, model, columns in (
        ("identities.jsonl", Identity, _IDENTITY),
        ("email_changes.jsonl", EmailChange, _EMAIL_CHANGE),
        ("sessions.jsonl", AccountSession, _SESSION),
        ("authenticators.jsonl", Authenticator, _AUTHENTICATOR),
        ("recovery_codes.jsonl", RecoveryCode, _RECOVERY_CODE),
        ("trusted_devices.jsonl", TrustedDevice, _TRUSTED_DEVICE),
    ):
        if reader.has(model):
            table: Any = model
            chosen = select(*(getattr(table, column) for column in columns.split()))
            yield name, reader.rows(chosen.where(table.account_id == subject.id))


_IDENTITY = "id provider issuer subject email linked_at last_used_at"
_EMAIL_CHANGE = "id old_email new_email requested_at confirmed_at"
_SESSION = "id kind amr created_at used_at expires_at ended_at end_reason ip user_agent"
_AUTHENTICATOR = "id kind name created_at confirmed_at last_used_at aaguid transports backed_up"
_RECOVERY_CODE = "id used_at"
_TRUSTED_DEVICE = "id user_agent ip created_at last_used_at expires_at"
