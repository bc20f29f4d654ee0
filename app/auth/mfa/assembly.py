from __future__ import annotations

from ...core.context import Context
from .models import Authenticator, RecoveryCode, TrustedDevice


def assemble(context: Context) -> None:
    for model in (Authenticator, RecoveryCode, TrustedDevice):
        context.bring(model)
