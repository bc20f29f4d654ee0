from __future__ import annotations

from ...core.web.blueprint import Blueprint

blueprint = Blueprint("mfa", __name__, about="Second factors, recovery codes and trusted devices")
