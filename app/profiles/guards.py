"""Authorization decorators of the profile routes."""

from collections.abc import Callable, Mapping
from functools import wraps

from flask import request
from werkzeug.datastructures import Headers

from ..accounts.service import Accounts
from ..auth.caller import caller, outside_workspace, principal
from ..auth.decorators import (
    active_account_required,
    active_caller_required,
    check_named,
    guard,
    one_of,
)
from ..auth.errors import NotAuthorized
from ..core.context import service
from ..core.db.transaction import AnySession
from ..core.types import Values
from ..core.web.operation import Params, Result, ViewDecorator, synchronous
from ..workspaces.errors import MemberInactive, NotAMember, NoWorkspace, WorkspaceNotFound
from ..workspaces.guards import check_active_member, current_workspace, resolve_workspace
from ..workspaces.resolvers import HeaderResolver, PathResolver


class PathThenHeader:
    """A workspace in the path takes precedence over the header."""

    path = PathResolver()
    header = HeaderResolver(
        description="Slug of a workspace that scopes the request, if the path has none"
    )

    def __call__(
        self, session: AnySession, account: object, path_params: Values, headers: Mapping[str, str]
    ) -> str | None:
        by_path = self.path.name in path_params
        return (self.path if by_path else self.header)(session, account, path_params, headers)

    def is_used(self, path_params: Values, headers: Headers) -> bool:
        """Return whether a workspace is named. An empty header also counts, and is not found."""
        return self.path.name in path_params or self.header.name in headers

    @property
    def documented_headers(self) -> Mapping[str, str]:
        return self.header.documented_headers


RESOLVER = PathThenHeader()


@guard(
    NoWorkspace,
    WorkspaceNotFound,
    NotAMember,
    MemberInactive,
    name="in_workspace",
    access="active member of the workspace, if the request names one",
    headers=lambda: RESOLVER.documented_headers,
    finds_workspace=True,
)
def _check_workspace() -> None:
    if RESOLVER.is_used(request.view_args or {}, request.headers):
        principal()
        check_active_member(resolve_workspace(RESOLVER))
    elif principal().workspace_id is not None:
        raise outside_workspace()


def account_in_workspace_required(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """Require an active account and, if the path or header names a workspace, an active member."""
    return active_account_required(_in_workspace(view))


def caller_in_workspace_required(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """As `account_in_workspace_required`; also accept a token of the workspace."""
    return active_caller_required(_in_workspace(view))


def _in_workspace(view: Callable[Params, Result]) -> Callable[Params, Result]:
    run = synchronous(view)

    @wraps(view)
    def without_slug(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        kwargs.pop(RESOLVER.path.name, None)
        return run(*args, **kwargs)

    return _check_workspace(without_slug)


def limiting_workspace() -> int | None:
    """Return the id of the workspace that limits which profiles are found, or None."""
    return current_workspace.id if current_workspace else None


def self_or_roles_required(*roles: str) -> ViewDecorator:
    """Require the account in the path, or one of these roles."""
    check_named("self_or_roles_required", roles)

    @guard(
        NotAuthorized,
        name="self_or_roles_required",
        access=f"the account itself, or role {one_of(roles)}",
        roles=roles,
    )
    def check() -> None:
        account = caller().account
        if account.id != (request.view_args or {}).get("account_id") and account.role not in roles:
            raise NotAuthorized

    return check


@guard(NotAuthorized)
def root_required_for_root() -> None:
    """Only a root may change the profile of a root."""
    account, account_id = caller().account, (request.view_args or {}).get("account_id")
    if account.role == "root" or account.id == account_id:
        return
    other = service(Accounts).by_id(account_id)
    if other is not None and other.role == "root":
        raise NotAuthorized
