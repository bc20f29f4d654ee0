"""What is told of an account's second factors: all but what opens something."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from ..auth.mfa.models import Authenticator, RecoveryCode, TrustedDevice


def authenticators(account_id: Any) -> Any:
    return select(
        Authenticator.id,
        Authenticator.kind,
        Authenticator.name,
        Authenticator.created_at,
        Authenticator.confirmed_at,
        Authenticator.last_used_at,
        Authenticator.aaguid,
        Authenticator.transports,
        Authenticator.backed_up,
    ).where(Authenticator.account_id == account_id)


def recovery_codes(account_id: Any) -> Any:
    return select(RecoveryCode.id, RecoveryCode.used_at).where(
        RecoveryCode.account_id == account_id
    )


def trusted_devices(account_id: Any) -> Any:
    return select(
        TrustedDevice.id,
        TrustedDevice.user_agent,
        TrustedDevice.ip,
        TrustedDevice.created_at,
        TrustedDevice.last_used_at,
        TrustedDevice.expires_at,
    ).where(TrustedDevice.account_id == account_id)
