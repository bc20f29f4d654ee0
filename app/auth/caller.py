"""The only place that finds the caller of a request.

A request may have several kinds of credentials. Their readers run in order, and the first that
finds its kind decides: an invalid header is rejected even if the request has a valid cookie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, NoReturn, cast

from flask import Request, current_app, has_request_context, request
from werkzeug.local import LocalProxy

from ..accounts.models import AccountLike
from ..accounts.service import Accounts, state_of
from ..core.context import service
from ..core.errors import MISSING, REVOKED, SetupError
from ..core.request import (
    OriginToken,
    set_origin_account,
    set_origin_token,
    set_origin_workspace,
    unwrap_request,
)
from ..core.web.operation import operation_of_request
from .errors import AccountRequired, InsufficientScope, InvalidCredentials

if TYPE_CHECKING:
    # Loaded only where sessions are on.
    from .sessions.rows import SessionRow

# Stored on the request, not on `g`: an outer application context keeps `g` after the request.
_FOUND = "frontdesk_caller"
# The kind of credential that the application's hook `authenticate` reads.
APPLICATION = "application"


@dataclass(eq=False)
class Caller:
    # A plain row; `attached_account` is the object.
    account: AccountLike
    # The kind of credential, such as "bearer".
    via: str
    # None: not restricted by scopes.
    scopes: frozenset[str] | None = None
    # The only workspace in which a token is accepted, or None.
    workspace_id: int | None = None
    token: OriginToken | None = None
    # The stored session as a plain row; None without one.
    session: SessionRow | None = None
    # In seconds since 1970, as in tokens; None if the credential has no time.
    authenticated_at: float | None = None
    # The time of the last second factor, or None.
    factor_at: float | None = None
    expires_at: float | None = None

    @property
    def is_of_application(self) -> bool:
        """Whether the application has signed the caller in, and must also re-authenticate it."""
        return self.via == APPLICATION

    @cached_property
    def attached_account(self) -> AccountLike:
        """The account as an object of the database session, which can be changed."""
        return service(Accounts).rows.attach(self.account)


class WorkspaceCaller(NamedTuple):
    """The caller of a workspace's token, which acts as a member and has no account."""

    workspace_id: int
    member_type: str
    scopes: frozenset[str]
    token: OriginToken


Principal = Caller | WorkspaceCaller


def caller_of(session: SessionRow, account: AccountLike, via: str, expires_at: float) -> Caller:
    shown = session.factor_at
    return Caller(
        account,
        via,
        session=session,
        authenticated_at=session.authenticated_at.timestamp(),
        factor_at=shown.timestamp() if shown else None,
        expires_at=expires_at,
    )


# Returns None without a credential of this kind, and raises for an invalid one. If the caller is
# optional, an invalid cookie is ignored: a browser sends it by itself, on every visit.
CredentialReader = Callable[[Request, bool], Principal | None]


@dataclass(eq=False)
class Callers:
    readers: list[CredentialReader]

    def find(self, request: Request, optional: bool) -> Principal | None:
        for read in self.readers:
            found = read(request, optional)
            if found is not None:
                if found.scopes is not None:
                    _check_scopes(found, found.scopes, request)
                return found
        return None


def caller() -> Caller:
    """Return the caller with its account; raise for an anonymous request, or for a workspace."""
    found = find_principal()
    return found if isinstance(found, Caller) else with_account(found or _missing())


def find_caller(optional: bool = False) -> Caller | None:
    """Return the caller, or None without a credential; raise for an invalid credential.

    If the caller is optional, an invalid session cookie is deleted, and the result is `None`.
    """
    found = find_principal(optional)
    return None if found is None else with_account(found)


def with_account(found: Principal) -> Caller:
    """Return the caller; raise AccountRequired for a workspace's token."""
    if isinstance(found, WorkspaceCaller):
        raise AccountRequired
    return found


def principal() -> Principal:
    """Return the caller, which is an account or a workspace; raise for an anonymous request."""
    return find_principal() or _missing()


def _missing() -> NoReturn:
    raise InvalidCredentials(reason=MISSING, note={"reason": "no_credential"})


def find_principal(optional: bool = False) -> Principal | None:
    """Return the caller, looked up once for each request, or None without a credential.

    Raise for an invalid credential, and for one with scopes in a view that does not accept it.
    """
    asked = unwrap_request()
    if hasattr(asked, _FOUND):
        found: Principal | None = getattr(asked, _FOUND)
        return found
    found = service(Callers).find(asked, optional)
    setattr(asked, _FOUND, found)
    if isinstance(found, Caller):
        set_origin_account(found.account.id, asked)
    return found


def _check_scopes(found: Principal, scopes: frozenset[str], asked: Request) -> None:
    """Accept a credential with scopes only while a view runs that names them: every other view,
    page and function is closed to it."""
    set_origin(found, asked)
    view = operation_of_request(current_app, asked)
    if view is None or not view.scopes or view.optional or not scopes.issuperset(view.scopes):
        raise InsufficientScope(view.scopes if view is not None else ())
    if found.workspace_id is not None and view.only_in_workspace and not view.finds_workspace:
        raise outside_workspace() if isinstance(found, Caller) else AccountRequired


def set_origin(found: Principal, asked: Request) -> None:
    """Store the actor of audit log entries, also of rejected requests."""
    set_origin_token(found.token, asked)
    if isinstance(found, Caller):
        set_origin_account(found.account.id, asked)
    else:
        set_origin_workspace(found.workspace_id, is_member=True)


def outside_workspace() -> InsufficientScope:
    """Return the error for a token of one workspace in a request outside of workspaces."""
    return InsufficientScope(detail="The token is limited to a workspace")


def known_principal() -> Principal | None:
    """Return the caller if a decorator has looked it up, or None."""
    found: Principal | None = getattr(request, _FOUND, None) if has_request_context() else None
    return found


def known_caller() -> Caller | None:
    """Return the caller with its account if a decorator has looked it up, or None."""
    found = known_principal()
    return found if isinstance(found, Caller) else None


def lock_caller(accounts: Accounts, caller: Caller) -> AccountLike:
    """Return the caller's account, read again and locked until the end of the transaction.
    Raise InvalidCredentials if its tokens were revoked after this request was authenticated."""
    own = caller.account
    found = accounts.lock(own.id)
    if (
        found is None
        or state_of(found).tokens_valid_from != state_of(own).tokens_valid_from
        or found.logged_out_at != own.logged_out_at
    ):
        raise InvalidCredentials(reason=REVOKED)
    return found


def known_account() -> AccountLike | None:
    """Return the caller's account if a decorator has looked the caller up, or None."""
    found = known_caller()
    return found.attached_account if found is not None else None


def outside_request(name: str) -> SetupError:
    """Return the error for the use outside a request, as Flask raises one for `request`."""
    return SetupError(
        f"Working outside of request context: {name} is what the decorators of a view have found"
        " for its request. In a command or a job, look the row up by its id or email address."
    )


def _guarded_account() -> AccountLike | None:
    """Return the account as `known_account` does; raise AccountRequired for a workspace's token.

    Raise SetupError outside a request and in a view without an authentication decorator, where it
    would always be None.
    """
    if not has_request_context():
        raise outside_request("current_account")
    if not hasattr(request, _FOUND):
        raise SetupError(
            f"current_account is used in '{request.endpoint}', which has no authentication"
            " decorator: add one, such as @account_required, below its route."
        )
    if isinstance(known_principal(), WorkspaceCaller):
        raise AccountRequired
    return known_account()


current_account = cast(AccountLike, LocalProxy(_guarded_account))
