"""Signing in and out by host code: its own login page, a link in a mail, a command.

It passes the same limits and the same gate as whoever comes by our routes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import has_request_context, request

from ...accounts.errors import AccountNotFound
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.context import find_context, service
from ...core.errors import SetupError
from ...core.web.reading import instance
from ..schemas import login_read
from ..settings import AuthSettings
from .gate import Gate, payload_of
from .log_out import LogOut
from .password import Login

if TYPE_CHECKING:
    from ..sessions.cookie_door import CookieDoor


def verify_password(account: Any, password: str) -> AccountLike:
    email = account if isinstance(account, str) else account.email
    address = (request.remote_addr or "") if has_request_context() else ""
    return service(Login).verify(email, password, address)


def sign_in(account: Any, by: tuple[str, ...], by_cookie: bool = False) -> dict[str, Any]:
    if by_cookie:
        _cookie_door().enter()
    payload = payload_of(service(Gate).admit(_stored(account), by))
    response: dict[str, Any] = instance(login_read()).dump(payload)
    return response


def sign_out(account: Any) -> None:
    service(LogOut).account(_stored(account))


def sign_out_here() -> None:
    _cookie_door().leave()


def _cookie_door() -> CookieDoor:
    # For its weight: most applications do without.
    from ..sessions.cookie_door import CookieDoor

    context = find_context()
    if context.settings.of(AuthSettings).COOKIE_SESSIONS != "on":
        raise SetupError(
            "This application signs nobody in by a cookie: AUTH.COOKIE_SESSIONS is off."
        )
    return context.get(CookieDoor)


def _stored(account: Any) -> AccountLike:
    """As an object of our session: the host may have it from another one, or as a plain row."""
    found: AccountLike | None = service(Accounts).by_id(account.id)
    if found is None:
        raise AccountNotFound
    return found
