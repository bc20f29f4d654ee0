"""Which workspace a request is about, and who may enter it.

The decorators stand beside those of `auth` and stack with them. Each resolves the workspace by its
own resolver, on every request and never from the token; two with the same resolver ask once.
Written bare they use the host's resolver, else the path parameter `workspace_slug`; written as
`@member_required(resolver=HeaderResolver())` they use that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast, overload

from flask import g, request
from werkzeug.local import LocalProxy

from ..auth.errors import NotAuthorized
from ..auth.guards import TOKEN_PROBLEMS, caller, check_named, guard, known_account
from ..calling import check_hook
from ..core.desk import current_desk, service
from ..core.errors import Problem
from ..core.http.operation import View, operation
from ..hooks import WorkspaceResolver
from .errors import MemberInactive, NotAMember, NoWorkspace, WorkspaceNotFound
from .lookup import Entry
from .models import Member, Workspace
from .resolvers import PathResolver, documented_headers
from .service import Workspaces

_ENTERED = "frontdesk_entries"

_DEFAULT = PathResolver()
_WORKSPACE_PROBLEMS = (NoWorkspace, WorkspaceNotFound)
_MEMBER_PROBLEMS = (*TOKEN_PROBLEMS, *_WORKSPACE_PROBLEMS, NotAMember)

Decorator = Callable[[View], View]
Check = Callable[[WorkspaceResolver | None], object]


def _last_entry() -> Entry | None:
    entries = g.get(_ENTERED)
    return entries[-1][1] if entries else None


def _last_workspace() -> Workspace | None:
    entry = _last_entry()
    return entry.workspace if entry else None


def _last_member() -> Member | None:
    entry = _last_entry()
    return entry.member if entry else None


# What the innermost decorator has found; falsy where none has.
current_workspace = cast(Workspace, LocalProxy(_last_workspace))
current_member = cast(Member, LocalProxy(_last_member))


def enter(resolver: WorkspaceResolver | None) -> Entry:
    """The workspace of this request, by one resolver, for the caller as far as it is known."""
    chosen = resolver or _default()
    account = known_account()
    key = (chosen, account is not None)
    entries: list[tuple[Any, Entry]] = g.setdefault(_ENTERED, [])
    entry = next((entry for other, entry in entries if other == key), None)
    if entry is None:
        headers = {name.lower(): value for name, value in request.headers}
        slug = chosen(current_desk.session, account, request.view_args or {}, headers)
        entry = service(Workspaces).enter(slug, account)
    entries.append((key, entry))
    return entry


def enter_with_account(resolver: WorkspaceResolver | None) -> Entry:
    caller()
    return enter(resolver)


def load_member(resolver: WorkspaceResolver | None) -> Member:
    member = enter_with_account(resolver).member
    if member is None:
        raise NotAMember
    return member


def load_active_member(resolver: WorkspaceResolver | None) -> Member:
    member = load_member(resolver)
    if not member.is_active:
        raise MemberInactive
    return member


class ResolvingGuard(Protocol):
    """A decorator for use with and without parentheses."""

    @overload
    def __call__(self, view: View, /) -> View: ...

    @overload
    def __call__(self, /, *, resolver: WorkspaceResolver | None = None) -> Decorator: ...


def resolving_guard(
    name: str, check: Check, *problems: type[Problem], bearer: bool = True
) -> ResolvingGuard:
    """A guard that takes a resolver, and declares the header that its resolver reads."""

    def with_resolver(
        view: View | None = None, /, *, resolver: WorkspaceResolver | None = None
    ) -> Any:
        if resolver is not None:
            check_hook("workspace_resolver", resolver, f"@{name}(resolver=…)")

        def headers() -> Mapping[str, str]:
            return documented_headers(resolver or _default())

        def decorate(view: View) -> View:
            guarded = guard(name, lambda: check(resolver), *problems, bearer=bearer)(view)
            operation(guarded).headers.append(headers)
            return guarded

        return decorate if view is None else decorate(view)

    return with_resolver


def _default() -> WorkspaceResolver:
    return current_desk.hooks.workspace_resolver or _DEFAULT


# A valid token and a workspace; whether the account is a member is not looked at.
workspace_required = resolving_guard(
    "workspace_required", enter_with_account, *TOKEN_PROBLEMS, *_WORKSPACE_PROBLEMS
)

# A workspace, without asking for a token.
workspace_anonymous = resolving_guard(
    "workspace_anonymous", enter, *_WORKSPACE_PROBLEMS, bearer=False
)

# A member of the workspace, of any status.
member_required = resolving_guard("member_required", load_member, *_MEMBER_PROBLEMS)

# A member of the workspace whose status is `active`.
active_member_required = resolving_guard(
    "active_member_required", load_active_member, *_MEMBER_PROBLEMS, MemberInactive
)


def workspace_roles_required(*types: str, resolver: WorkspaceResolver | None = None) -> Decorator:
    """A member of one of these types, active or not; stack with `active_member_required`."""
    check_named("workspace_roles_required", types)

    def check(resolver: WorkspaceResolver | None) -> None:
        if load_member(resolver).type not in types:
            raise NotAuthorized

    stated = resolving_guard("workspace_roles_required", check, *_MEMBER_PROBLEMS, NotAuthorized)
    return stated(resolver=resolver)
