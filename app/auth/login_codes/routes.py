from __future__ import annotations

from ...core.web.blueprint import Blueprint

blueprint = Blueprint("login_codes", __name__, about="Signing in by a code that is mailed")
