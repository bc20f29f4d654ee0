"""Decorators that resolve the workspace of a request and check the caller's access to it.

They stack with the decorators of `auth`. Each resolves the workspace on every request by its
resolver, and never from the token; decorators with the same resolver share one query. Without
parentheses they use the application's resolver, or else the path parameter `workspace_slug`; with
`@member_required(resolver=HeaderResolver())` they use this resolver.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast, overload

from flask import has_request_context, request
from werkzeug.local import LocalProxy

from ..accounts.models import Viewer
from ..auth.caller import (
    Caller,
    Principal,
    WorkspaceCaller,
    known_account,
    known_principal,
    outside_request,
    principal,
)
from ..auth.decorators import CREDENTIAL_PROBLEMS, check_named, guard, named_like, one_of
from ..auth.errors import NotAuthorized
from ..core.context import current_frontdesk
from ..core.errors import Problem
from ..core.hooks import check_call
from ..core.request import set_origin_workspace
from ..core.types import AnyFunction
from ..core.web.operation import Params, Result, ViewDecorator
from .errors import MemberInactive, NotAMember, NoWorkspace, WorkspaceNotFound
from .lookup import WorkspaceAccess, find_access
from .models import Member, TokenMember, Workspace
from .resolvers import RESOLVER_ARGUMENTS, WorkspaceResolver, documented_headers

# The request's attribute with the resolved workspaces.
_RESOLVED = "frontdesk_workspaces"

_WORKSPACE_PROBLEMS = (NoWorkspace, WorkspaceNotFound)
_MEMBER_PROBLEMS = (*CREDENTIAL_PROBLEMS, *_WORKSPACE_PROBLEMS, NotAMember)

# Raises the problem for a caller without access to the workspace.
WorkspaceCheck = Callable[[WorkspaceAccess], object]
_Resolved = list[tuple[tuple[WorkspaceResolver, bool], WorkspaceAccess]]


def _last_access(name: str) -> WorkspaceAccess | None:
    if not has_request_context():
        raise outside_request(name)
    resolved: _Resolved = getattr(request, _RESOLVED, [])
    return resolved[-1][1] if resolved else None


def _last_workspace() -> Workspace | None:
    access = _last_access("current_workspace")
    return access.workspace if access else None


def _last_member() -> Member | None:
    access = _last_access("current_member")
    return access.member if access else None


# The result of the innermost decorator; falsy without a decorator.
current_workspace = cast(Workspace, LocalProxy(_last_workspace))
current_member = cast(Member, LocalProxy(_last_member))


def resolve_workspace(resolver: WorkspaceResolver | None = None) -> WorkspaceAccess:
    """Resolve the workspace of this request, for the authenticated or anonymous caller."""
    chosen = resolver or _default_resolver()
    found, account = known_principal(), known_account()
    key = (chosen, found is not None)
    resolved: _Resolved | None = getattr(request, _RESOLVED, None)
    if resolved is None:
        resolved = []
        setattr(request, _RESOLVED, resolved)
    access = next((access for other, access in resolved if other == key), None)
    if access is None:
        headers = {name.lower(): value for name, value in request.headers}
        session = current_frontdesk.session
        slug = chosen(session, account, request.view_args or {}, headers)
        own_id = found.workspace_id if isinstance(found, WorkspaceCaller) else None
        access = _limit_access(find_access(session, slug, account, own_id), found)
    resolved.append((key, access))
    if not isinstance(found, WorkspaceCaller):
        # The entries of a workspace's token are in the audit log of that workspace.
        is_active = access.member is not None and access.member.is_active
        set_origin_workspace(access.workspace.id, is_member=is_active)
    return access


def _limit_access(access: WorkspaceAccess, found: Principal | None) -> WorkspaceAccess:
    """Return the access of a token that is limited to a workspace, with a workspace's token a
    member without a row; raise NotAMember for any other workspace."""
    if found is None or found.workspace_id is None:
        return access
    if access.workspace.id != found.workspace_id:
        raise NotAMember
    if isinstance(found, WorkspaceCaller):
        member = TokenMember(found.workspace_id, found.member_type, found.token.id)
        return access._replace(member=cast(Member, member))
    return access


def current_viewer() -> Viewer:
    """Return the caller's account, or with a workspace's token the member as which it acts."""
    found = principal()
    return found.account if isinstance(found, Caller) else cast(Any, current_member)


def require_member(access: WorkspaceAccess) -> Member:
    if access.member is None:
        raise NotAMember
    return access.member


def check_active_member(access: WorkspaceAccess) -> None:
    if not require_member(access).is_active:
        raise MemberInactive


class WorkspaceGuard(Protocol):
    """A decorator for use with and without parentheses."""

    @overload
    def __call__(self, view: Callable[Params, Result], /) -> Callable[Params, Result]: ...

    @overload
    def __call__(self, /, *, resolver: WorkspaceResolver | None = None) -> ViewDecorator: ...


def workspace_guard(
    *problems: type[Problem], name: str = "", bearer: bool = True, access: str = ""
) -> Callable[[WorkspaceCheck], WorkspaceGuard]:
    """Return a decorator like `guard`, for a check of the request's workspace."""

    def decorate(check: WorkspaceCheck) -> WorkspaceGuard:
        shown = name or check.__name__

        def with_resolver(
            view: AnyFunction | None = None, /, *, resolver: WorkspaceResolver | None = None
        ) -> Any:
            if resolver is not None:
                check_call(resolver, RESOLVER_ARGUMENTS, f"@{shown}(resolver=…)")

            def headers() -> Mapping[str, str]:
                return documented_headers(resolver or _default_resolver())

            @guard(
                *problems,
                name=shown,
                bearer=bearer,
                headers=headers,
                access=access,
                finds_workspace=bearer,
            )
            def resolve_and_check() -> None:
                if bearer:
                    principal()
                check(resolve_workspace(resolver))

            return resolve_and_check if view is None else resolve_and_check(view)

        return named_like(check, with_resolver)

    return decorate


def _default_resolver() -> WorkspaceResolver:
    return current_frontdesk.hooks.workspace_resolver


@workspace_guard(*_MEMBER_PROBLEMS, access="any account")
def workspace_required(access: WorkspaceAccess) -> None:
    """Require a valid token and a workspace, without membership.

    Args:
        resolver: Finds the workspace's slug in the request. Default: the path parameter
            `workspace_slug`.

    Raises:
        NoWorkspace: The request names no workspace.
        WorkspaceNotFound: No workspace has the slug; and the errors of `account_required`.
        NotAMember: The caller's token is limited to another workspace.

    Example::

        @app.get("/api/<workspace_slug>/about")
        @workspace_required
        def about(workspace_slug):
            return {"name": current_workspace.name}
    """


@workspace_guard(*_WORKSPACE_PROBLEMS, bearer=False)
def workspace_anonymous(access: WorkspaceAccess) -> None:
    """Require a workspace, without authentication.

    Args:
        resolver: Finds the workspace's slug in the request. Default: the path parameter
            `workspace_slug`.

    Raises:
        NoWorkspace: The request names no workspace.
        WorkspaceNotFound: No workspace has the slug.

    Example::

        @app.get("/<workspace_slug>/status")
        @workspace_anonymous
        def status(workspace_slug):
            return {"name": current_workspace.name}
    """


@workspace_guard(*_MEMBER_PROBLEMS, access="member of the workspace")
def member_required(access: WorkspaceAccess) -> None:
    """Require a member of the workspace, with any status.

    Args:
        resolver: Finds the workspace's slug in the request.

    Raises:
        NotAMember: The caller is not a member; and the errors of `workspace_required`.

    Example::

        @app.get("/api/<workspace_slug>/membership")
        @member_required
        def membership(workspace_slug):
            return {"status": current_member.status}
    """
    require_member(access)


@workspace_guard(*_MEMBER_PROBLEMS, MemberInactive, access="active member of the workspace")
def active_member_required(access: WorkspaceAccess) -> None:
    """Require a member of the workspace with the status `active`.

    Args:
        resolver: Finds the workspace's slug in the request.

    Raises:
        MemberInactive: The membership is not active; and the errors of `member_required`.

    Example::

        @app.get("/api/<workspace_slug>/notes")
        @active_member_required
        def notes(workspace_slug):
            return list_notes(current_workspace.id)
    """
    check_active_member(access)


def workspace_roles_required(
    *types: str, resolver: WorkspaceResolver | None = None
) -> ViewDecorator:
    """Require a member with one of these roles in the workspace, with any status.

    Combine it with `active_member_required` to require an active membership.

    Args:
        types: `owner`, `admin`, `member` or `guest`.
        resolver: Finds the workspace's slug in the request.

    Raises:
        NotAuthorized: The member has another role; and the errors of `member_required`.

    Example::

        @app.post("/api/<workspace_slug>/plan")
        @active_member_required
        @workspace_roles_required("owner", "admin")
        def change_plan(workspace_slug): ...
    """
    check_named("workspace_roles_required", types)

    @workspace_guard(
        *_MEMBER_PROBLEMS,
        NotAuthorized,
        name="workspace_roles_required",
        access=f"role {one_of(types)} in the workspace",
    )
    def check(access: WorkspaceAccess) -> None:
        if require_member(access).type not in types:
            raise NotAuthorized

    return check(resolver=resolver)
