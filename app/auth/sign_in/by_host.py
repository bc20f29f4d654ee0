"""Signing in and out by host code: its own login page, a link in a mail, a command.

It passes the same limits and the same gate as whoever comes by our routes.
"""

from __future__ import annotations

from typing import Any

from flask import has_request_context, request

from ...accounts.errors import AccountNotFound
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.context import service
from ...core.web.reading import instance
from ..schemas import login_read
from .gate import Gate, payload_of
from .log_out import LogOut
from .password import Login


def verify_password(account: Any, password: str) -> AccountLike:
    email = account if isinstance(account, str) else account.email
    address = (request.remote_addr or "") if has_request_context() else ""
    return service(Login).verify(email, password, address)


def sign_in(account: Any, by: tuple[str, ...]) -> dict[str, Any]:
    payload = payload_of(service(Gate).admit(_stored(account), by))
    response: dict[str, Any] = instance(login_read()).dump(payload)
    return response


def sign_out(account: Any) -> None:
    service(LogOut).account(_stored(account))


def _stored(account: Any) -> AccountLike:
    """As an object of our session: the host may have it from another one, or as a plain row."""
    found: AccountLike | None = service(Accounts).by_id(account.id)
    if found is None:
        raise AccountNotFound
    return found
