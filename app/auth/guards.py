"""Who may enter: the decorators of routes, and `current_account` for what they load.

Each is written at the route, stacks with the others (the account is loaded once), and declares
itself to the OpenAPI document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, cast

from flask import g, request
from werkzeug.local import LocalProxy

from ..accounts.errors import AccountNotFound
from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..core.desk import current_desk, service
from ..core.errors import Problem, SetupError
from ..core.http.operation import View, operation
from ..core.http.problems import known_problem
from .errors import (
    AccountInactive,
    IdpDisabled,
    InvalidCredentials,
    NotAuthorized,
    TokenExpired,
)
from .idp import IdpSignIn
from .sessions import Sessions

_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+) *", re.ASCII)
_CALLER = "frontdesk_caller"
_LOADED = "frontdesk_account"

Check = Callable[[], object]


def caller() -> AccountLike:
    """The row of the account whose bearer token this is, read once for the request."""
    found: AccountLike | None = g.get(_CALLER)
    if found is None:
        found = service(Sessions).authenticate(bearer_token())
        setattr(g, _CALLER, found)
    return found


def load_account() -> AccountLike:
    """The caller as an object of the session, which can be changed; made when first asked for."""
    loaded: AccountLike | None = g.get(_LOADED)
    if loaded is None:
        loaded = service(Accounts).attach(caller())
        setattr(g, _LOADED, loaded)
    return loaded


def known_account() -> AccountLike | None:
    """The caller, where a guard has asked who it is."""
    return load_account() if _CALLER in g else None


def bearer_token() -> str:
    match = _BEARER.fullmatch(request.environ.get("HTTP_AUTHORIZATION", ""))
    if match is None:
        raise InvalidCredentials
    return match[1]


current_account = cast(AccountLike, LocalProxy(known_account))


def guard(
    name: str, check: Check, *problems: type[Problem], bearer: bool = True
) -> Callable[[View], View]:
    """A decorator that runs `check` before the view, and says so in the view's record."""

    def decorate(view: View) -> View:
        @wraps(view)
        def check_then_view(*args: Any, **kwargs: Any) -> Any:
            try:
                check()
            except Problem:
                raise
            except Exception as error:
                # In a host's own view nobody else would know a lost database for a 503.
                if (problem := known_problem(error)) is not None:
                    raise problem from error
                raise
            return view(*args, **kwargs)

        described = operation(check_then_view)
        described.guard = name
        described.bearer = described.bearer or bearer
        described.problems.extend(problems)
        return check_then_view

    return decorate


def account_required(view: View) -> View:
    """A valid token whose account is not logged out. The account's status is not looked at."""
    return _account_required(view)


def account_optional(view: View) -> View:
    """As `account_required`, but a request without an Authorization header passes as nobody."""
    return _account_optional(view)


def active_account_required(view: View) -> View:
    """A valid token of an account whose status counts as active."""
    return _active_account_required(view)


def superuser_required(view: View) -> View:
    """An active account with the role `root`; no other role name passes."""
    return active_account_required(_superuser_required(view))


def roles_required(*roles: str) -> Callable[[View], View]:
    """An account with one of these roles, active or not; stack with `active_account_required`."""
    check_named("roles_required", roles)

    def check() -> None:
        if caller().role not in roles:
            raise NotAuthorized

    return guard("roles_required", check, *TOKEN_PROBLEMS, NotAuthorized)


def check_named(guard: str, roles: Sequence[object]) -> None:
    """Bare, without its roles, a guard would take the view for one and let nobody in."""
    if not all(isinstance(role, str) for role in roles):
        raise SetupError(f'@{guard} takes the roles that it lets in: @{guard}("admin")')


def idp_required(view: View) -> View:
    """Sign-in through an identity provider is switched on; asked before the request is read."""

    @wraps(view)
    def check_then_view(*args: Any, **kwargs: Any) -> Any:
        if IdpSignIn not in current_desk.services:
            raise IdpDisabled
        return view(*args, **kwargs)

    operation(check_then_view).problems.append(IdpDisabled)
    return check_then_view


def _load_if_sent() -> None:
    if "HTTP_AUTHORIZATION" in request.environ:
        caller()


def _check_active() -> None:
    if not service(Sessions).is_active(caller()):
        raise AccountInactive


def _check_root() -> None:
    if caller().role != "root":
        raise NotAuthorized


TOKEN_PROBLEMS = (InvalidCredentials, TokenExpired, AccountNotFound)
_account_required = guard("account_required", caller, *TOKEN_PROBLEMS)
_account_optional = guard("account_optional", _load_if_sent, *TOKEN_PROBLEMS)
_active_account_required = guard(
    "active_account_required", _check_active, *TOKEN_PROBLEMS, AccountInactive
)
_superuser_required = guard("superuser_required", _check_root, *TOKEN_PROBLEMS, NotAuthorized)
