"""Recovery codes, for who has lost what they sign in with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Response

from ...auth.caller import caller
from ...auth.fresh import Freshness
from ...auth.guards import active_account_required
from ...auth.mfa import routes as mfa_api
from ...auth.mfa.routes import factors_required
from ...core.context import service
from ...core.web.operation import hidden
from ..api_calls import ApiCall, calls_api, get_from_api
from ..pages import page
from .fresh_first import fresh_first


@active_account_required
@factors_required
@hidden
@fresh_first
def recovery_codes_page() -> Response:
    return page(
        "owner/security/recovery_codes.html",
        at="security_page",
        left=get_from_api(mfa_api.count_recovery_codes)["left"],
        has_factor=service(Freshness).has_factor(caller().account),
    )


@calls_api(mfa_api.make_recovery_codes, refused=recovery_codes_page)
def make_own_recovery_codes(call_api: ApiCall) -> Response:
    return codes_shown(call_api()["recovery_codes"])


def codes_shown(codes: Sequence[str], said: Any = "") -> Response:
    """Here for the last time, so that no redirect may come in between."""
    return page("owner/security/codes_shown.html", at="security_page", codes=codes, said=said)
