"""The authentication and authorization decorators of routes.

Each is a function with `@guard`. It is written at the route, stacks with the others (the caller
is found once), keeps the view's signature, and declares itself to the OpenAPI document.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import TypeVar

from ..accounts.errors import AccountNotFound
from ..accounts.passwords import passwords_off
from ..accounts.service import Accounts
from ..core.context import service
from ..core.errors import FeatureOff, Problem, SetupError
from ..core.request import set_origin_admin
from ..core.web.operation import Params, Result, ViewDecorator, operation, raises_found, synchronous
from ..core.web.problems import known_problem
from .caller import Caller, caller, find_caller, principal
from .caller import current_account as current_account
from .errors import (
    InactiveCaller,
    InvalidCredentials,
    LoggedOut,
    NotAuthorized,
    ReauthenticationRequired,
)
from .sign_in.policy import SignInPolicy
from .step_up.service import Freshness

CREDENTIAL_PROBLEMS = (InvalidCredentials, LoggedOut, AccountNotFound)

Made = TypeVar("Made", bound=Callable[..., object])
# Raises the problem for a caller without access.
EntryCheck = Callable[[], object]


def guard(
    *problems: type[Problem],
    name: str = "",
    bearer: bool = True,
    optional: bool = False,
    access: str = "",
    headers: Callable[[], Mapping[str, str]] | None = None,
    roles: Iterable[str] = (),
    finds_workspace: bool = False,
) -> Callable[[EntryCheck], ViewDecorator]:
    """Make a check a decorator that runs it before the view and documents it in OpenAPI."""

    def make(check: EntryCheck) -> ViewDecorator:
        def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
            run = synchronous(view)

            @wraps(view)
            def check_then_view(*args: Params.args, **kwargs: Params.kwargs) -> Result:
                try:
                    check()
                except Problem:
                    raise
                except Exception as error:
                    # An application has no handler that turns a lost database into a 503.
                    if (problem := known_problem(error)) is not None:
                        raise problem from error
                    raise
                return run(*args, **kwargs)

            described = operation(check_then_view)
            if bearer or not described.guard:
                described.guard = name or check.__name__
            if access:
                described.access.insert(0, access)
            if bearer:
                # Credentials are required if any decorator of the view requires them.
                described.optional = optional and described.optional is described.bearer
            described.bearer = described.bearer or bearer
            described.problems.extend(problems)
            described.roles.update(roles)
            described.finds_workspace |= finds_workspace
            if headers is not None:
                described.headers.append(headers)
            return check_then_view

        return named_like(check, decorate)

    return make


def named_like(check: Callable[..., object], made: Made) -> Made:
    """Give the decorator the check's name and docstring, without its signature."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(made, name, getattr(check, name))
    return made


def one_of(roles: Sequence[str]) -> str:
    """Return the roles as the document names them."""
    return " or ".join(f"`{role}`" for role in roles)


def check_named(guard: str, roles: Sequence[object]) -> None:
    """Reject a decorator without roles: without parentheses it would take the view for a role, and
    with empty ones it would reject every account."""
    if not roles or not all(isinstance(role, str) for role in roles):
        raise SetupError(f'@{guard} takes the names of roles: @{guard}("admin")')


@guard(*CREDENTIAL_PROBLEMS, access="any account")
def account_required() -> None:
    """Require a valid access token or cookie of an account, whatever its status.

    Raises:
        InvalidCredentials: The credentials are missing or invalid.
        LoggedOut: The account has signed out.
        AccountNotFound: The account of the token does not exist.

    Example::

        @app.get("/me")
        @account_required
        def me():
            return {"email": current_account.email}
    """
    caller()


@guard(*CREDENTIAL_PROBLEMS, optional=True, access="anyone; credentials are optional")
def account_optional() -> None:
    """Accept anonymous requests too; invalid credentials are still rejected.

    The response to a request with an expired session cookie deletes the cookie.

    Raises:
        InvalidCredentials: The credentials are invalid; and the errors of `account_required`.

    Example::

        @app.get("/")
        @account_optional
        def home():
            return {"email": current_account.email if current_account else None}
    """
    find_caller(optional=True)


@guard(*CREDENTIAL_PROBLEMS, InactiveCaller, access="active account")
def active_account_required() -> None:
    """Require valid credentials of an account with an active status.

    Raises:
        InactiveCaller: The account is not active; and the errors of `account_required`.

    Example::

        @app.get("/notes")
        @active_account_required
        def notes():
            return list_notes(current_account.id)
    """
    check_active()


@guard(*CREDENTIAL_PROBLEMS, InactiveCaller, access="active account, or a token of the workspace")
def active_caller_required() -> None:
    """Require valid credentials of an account with an active status, or a workspace's token.

    Use it with a workspace decorator and `@scope`, instead of `active_account_required`, where
    tokens of the workspace are accepted too. `current_account` then raises for such a token.

    Raises:
        InactiveCaller: The account is not active; and the errors of `account_required`.

    Example::

        @app.get("/api/<workspace_slug>/orders")
        @active_caller_required
        @active_member_required
        @scope("orders:read")
        def orders(workspace_slug):
            return list_orders(current_workspace.id)
    """
    if isinstance(principal(), Caller):
        check_active()


@guard(*CREDENTIAL_PROBLEMS, InactiveCaller, NotAuthorized, access="active account; role `root`")
def superuser_required() -> None:
    """Require an active account with the role `root`.

    Raises:
        NotAuthorized: The account has another role; and the errors of `active_account_required`.

    Example::

        @app.post("/maintenance")
        @superuser_required
        def start_maintenance(): ...
    """
    check_active()
    _check_role("root")


def roles_required(*roles: str) -> ViewDecorator:
    """Require an account with one of these roles, whatever its status.

    Combine it with `active_account_required` to require an active account.

    Args:
        roles: Names of roles, such as `admin`. All of them must be in `AUTH.ROLES`.

    Raises:
        NotAuthorized: The account has another role; and the errors of `account_required`.

    Example::

        @app.get("/reports")
        @active_account_required
        @roles_required("admin", "root")
        def reports(): ...
    """
    check_named("roles_required", roles)

    @guard(
        *CREDENTIAL_PROBLEMS,
        NotAuthorized,
        name="roles_required",
        access=f"role {one_of(roles)}",
        roles=roles,
    )
    def check() -> None:
        _check_role(*roles)

    return check


def fresh_required(minutes: int | None = None, factors: int = 1) -> ViewDecorator:
    """Require a recent sign-in or re-authentication (step-up).

    The response to an older sign-in follows RFC 9470: it names the required age and method.

    Args:
        minutes: Maximum age of the sign-in. Default: `AUTH.FRESH_MINUTES`.
        factors: 2 requires multi-factor authentication within that time.

    Raises:
        ReauthenticationRequired: The sign-in is too old; and the errors of `account_required`.

    Example::

        @app.post("/payout")
        @active_account_required
        @fresh_required(minutes=5)
        def payout(): ...
    """
    is_known = minutes is None or (isinstance(minutes, int) and minutes > 0)
    if not is_known or factors not in (1, 2):
        raise SetupError(
            "@fresh_required takes minutes, and 1 or 2 factors:"
            " @fresh_required(minutes=15), @fresh_required(factors=2)"
        )

    @guard(
        *CREDENTIAL_PROBLEMS,
        ReauthenticationRequired,
        name="fresh_required",
        access="recent sign-in" + (" with MFA" if factors > 1 else ""),
    )
    def check() -> None:
        service(Freshness).require(caller(), None if minutes is None else minutes * 60, factors)

    return check


@guard(*CREDENTIAL_PROBLEMS, ReauthenticationRequired, access="sign-in with MFA")
def mfa_required() -> None:
    """Require a sign-in with multi-factor authentication, whatever its age.

    A trusted device does not replace MFA.

    Raises:
        ReauthenticationRequired: The caller signed in without MFA; and the errors of
            `account_required`.

    Example::

        @app.get("/vault")
        @active_account_required
        @mfa_required
        def vault(): ...
    """
    if caller().factor_at is None:
        raise ReauthenticationRequired(None, factors=2)


@guard(
    *CREDENTIAL_PROBLEMS,
    ReauthenticationRequired,
    access="recent sign-in, with MFA if the account uses it",
)
def fresh_factor_required() -> None:
    """Require a recent sign-in, with a second factor if the account has one."""
    service(Freshness).require_with_factor(caller())


@guard(FeatureOff, bearer=False)
def passwords_required() -> None:
    """Require AUTH.PASSWORDS to be on, before the caller is authenticated."""
    if not service(Accounts).passwords.enabled:
        raise passwords_off()


@raises_found
def raises_sign_in_problems() -> Iterable[type[Problem]]:
    """Declare in the OpenAPI document the problems of the sign-in stages."""
    return service(SignInPolicy).refusals


def check_active() -> None:
    if not service(Accounts).is_active(caller().account):
        raise InactiveCaller


def _check_role(*roles: str) -> None:
    role = caller().account.role
    if role not in roles:
        raise NotAuthorized
    if role in ("admin", "root"):
        set_origin_admin()
