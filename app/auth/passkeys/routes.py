from __future__ import annotations

from ...core.web.blueprint import Blueprint

blueprint = Blueprint("passkeys", __name__, about="Signing in by a passkey")
