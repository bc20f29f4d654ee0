"""An account's password."""

from __future__ import annotations

from flask import Response

from ...auth import account_routes as account_api
from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk
from ...core.web.operation import hidden
from ..api_calls import ApiCall, calls_api
from ..pages import page
from ..texts import _
from ..ways import go
from .fresh_first import factor_first, fresh_first


@active_account_required
@hidden
def password_page() -> Response:
    return _with_password() if _has_one() else _without_password()


@calls_api(account_api.change_password, refused=password_page)
def change_own_password(call_api: ApiCall) -> Response:
    call_api()
    return go(
        ".security_page", _("Your password is changed. You are signed out everywhere but here.")
    )


@factor_first
def _with_password() -> Response:
    return _shown()


@fresh_first
def _without_password() -> Response:
    """Of an account that comes in otherwise."""
    return _shown()


def _shown() -> Response:
    auth = current_frontdesk.settings.of(AuthSettings)
    return page(
        "owner/security/password.html",
        at="security_page",
        has_password=_has_one(),
        shortest=auth.PASSWORD_MIN_LENGTH,
    )


def _has_one() -> bool:
    return caller().account.password_hash is not None
