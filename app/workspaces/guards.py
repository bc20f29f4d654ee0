"""Which workspace a request is about, and who may enter it.

The decorators stand beside those of `auth` and stack with them. Each resolves the workspace by its
own resolver, on every request and never from the token; two with the same resolver ask once.
Written bare they use the host's resolver, else the path parameter `workspace_slug`; written as
`@member_required(resolver=HeaderResolver())` they use that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast, overload

from flask import has_request_context, request
from werkzeug.local import LocalProxy

from ..auth.caller import caller, known_account, outside_request
from ..auth.decorators import CREDENTIAL_PROBLEMS, Guard, check_named, guard, named_like
from ..auth.errors import NotAuthorized
from ..core.context import current_frontdesk, service
from ..core.errors import Problem
from ..core.hooks import check_call
from ..core.request import set_origin_workspace
from ..core.types import AnyFunction
from ..core.web.operation import Params, Result
from .errors import MemberInactive, NotAMember, NoWorkspace, WorkspaceNotFound
from .lookup import Entry
from .models import Member, Workspace
from .resolvers import RESOLVER_ARGUMENTS, WorkspaceResolver, documented_headers
from .service import Workspaces

# On the request, as the caller is.
_ENTERED = "frontdesk_entries"

_WORKSPACE_PROBLEMS = (NoWorkspace, WorkspaceNotFound)
_MEMBER_PROBLEMS = (*CREDENTIAL_PROBLEMS, *_WORKSPACE_PROBLEMS, NotAMember)

# Raises the problem for a caller without access to the workspace.
WorkspaceCheck = Callable[[Entry], object]
_Entered = list[tuple[tuple[WorkspaceResolver, bool], Entry]]


def _last_entry(name: str) -> Entry | None:
    if not has_request_context():
        raise outside_request(name)
    entered: _Entered = getattr(request, _ENTERED, [])
    return entered[-1][1] if entered else None


def _last_workspace() -> Workspace | None:
    entry = _last_entry("current_workspace")
    return entry.workspace if entry else None


def _last_member() -> Member | None:
    entry = _last_entry("current_member")
    return entry.member if entry else None


# What the innermost decorator has found; falsy where none has.
current_workspace = cast(Workspace, LocalProxy(_last_workspace))
current_member = cast(Member, LocalProxy(_last_member))


def enter(resolver: WorkspaceResolver | None = None) -> Entry:
    """Return the workspace of this request by one resolver, for the known or anonymous caller."""
    chosen = resolver or _default()
    account = known_account()
    key = (chosen, account is not None)
    entered: _Entered | None = getattr(request, _ENTERED, None)
    if entered is None:
        entered = []
        setattr(request, _ENTERED, entered)
    entry = next((entry for other, entry in entered if other == key), None)
    if entry is None:
        headers = {name.lower(): value for name, value in request.headers}
        slug = chosen(current_frontdesk.session, account, request.view_args or {}, headers)
        entry = service(Workspaces).enter(slug, account)
    entered.append((key, entry))
    set_origin_workspace(entry.workspace.id)
    return entry


def member_of(entry: Entry) -> Member:
    if entry.member is None:
        raise NotAMember
    return entry.member


def check_active_member(entry: Entry) -> None:
    if not member_of(entry).is_active:
        raise MemberInactive


class WorkspaceGuard(Protocol):
    """A guard for use with and without parentheses."""

    @overload
    def __call__(self, view: Callable[Params, Result], /) -> Callable[Params, Result]: ...

    @overload
    def __call__(self, /, *, resolver: WorkspaceResolver | None = None) -> Guard: ...


def workspace_guard(
    *problems: type[Problem], name: str = "", bearer: bool = True
) -> Callable[[WorkspaceCheck], WorkspaceGuard]:
    """As `guard`, for a check of the workspace that the request is about."""

    def make(check: WorkspaceCheck) -> WorkspaceGuard:
        shown = name or check.__name__

        def with_resolver(
            view: AnyFunction | None = None,
            /,
            *,
            resolver: WorkspaceResolver | None = None,
        ) -> Any:
            if resolver is not None:
                check_call(resolver, RESOLVER_ARGUMENTS, f"@{shown}(resolver=…)")

            def headers() -> Mapping[str, str]:
                return documented_headers(resolver or _default())

            @guard(*problems, name=shown, bearer=bearer, headers=headers)
            def enter_and_check() -> None:
                if bearer:
                    caller()
                check(enter(resolver))

            return enter_and_check if view is None else enter_and_check(view)

        return named_like(check, with_resolver)

    return make


def _default() -> WorkspaceResolver:
    return current_frontdesk.hooks.workspace_resolver


@workspace_guard(*CREDENTIAL_PROBLEMS, *_WORKSPACE_PROBLEMS)
def workspace_required(entry: Entry) -> None:
    """A valid token and a workspace; whether the account is a member is not looked at."""


@workspace_guard(*_WORKSPACE_PROBLEMS, bearer=False)
def workspace_anonymous(entry: Entry) -> None:
    """A workspace, without asking for a token."""


@workspace_guard(*_MEMBER_PROBLEMS)
def member_required(entry: Entry) -> None:
    """A member of the workspace, of any status."""
    member_of(entry)


@workspace_guard(*_MEMBER_PROBLEMS, MemberInactive)
def active_member_required(entry: Entry) -> None:
    """Require a member of the workspace with the status `active`."""
    check_active_member(entry)


def workspace_roles_required(*types: str, resolver: WorkspaceResolver | None = None) -> Guard:
    """A member of one of these types, active or not; stack with `active_member_required`."""
    check_named("workspace_roles_required", types)

    @workspace_guard(*_MEMBER_PROBLEMS, NotAuthorized, name="workspace_roles_required")
    def check(entry: Entry) -> None:
        if member_of(entry).type not in types:
            raise NotAuthorized

    return check(resolver=resolver)
