"""Which profiles a request may be about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from flask import request
from werkzeug.datastructures import Headers

from ..auth.errors import NotAuthorized
from ..auth.guards import caller, guard
from ..core.http.operation import View
from ..core.transaction import AnySession
from ..hooks import WorkspaceResolver
from ..workspaces.errors import MemberInactive, NotAMember, NoWorkspace, WorkspaceNotFound
from ..workspaces.guards import current_workspace, load_active_member, resolving_guard
from ..workspaces.resolvers import HeaderResolver, PathResolver


class PathThenHeader:
    """Where the path names a workspace it counts, and the header is passed over."""

    path = PathResolver()
    header = HeaderResolver(
        description="Slug of a workspace that scopes the request; the path's counts first"
    )

    def __call__(
        self,
        session: AnySession,
        account: Any,
        path_params: Mapping[str, Any],
        headers: Mapping[str, str],
    ) -> str | None:
        by_path = self.path.name in path_params
        return (self.path if by_path else self.header)(session, account, path_params, headers)

    def is_used(self, path_params: Mapping[str, Any], headers: Headers) -> bool:
        """An empty header asks for a scope too, and finds none."""
        return self.path.name in path_params or self.header.name in headers

    @property
    def documented_headers(self) -> Mapping[str, str]:
        return self.header.documented_headers


SCOPE = PathThenHeader()


def _check(resolver: WorkspaceResolver | None) -> None:
    if SCOPE.is_used(request.view_args or {}, request.headers):
        load_active_member(resolver)


_scoped = resolving_guard(
    "scoped", _check, NoWorkspace, WorkspaceNotFound, NotAMember, MemberInactive
)(resolver=SCOPE)


def scoped(view: View) -> View:
    """An active member of the workspace that path or header name; without either, anyone."""

    @wraps(view)
    def without_slug(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop(SCOPE.path.name, None)
        return view(*args, **kwargs)

    return _scoped(without_slug)


def scope() -> int | None:
    """The workspace that bounds which profiles are found."""
    return current_workspace.id if current_workspace else None


def oneself_or_roles(*roles: str) -> Callable[[View], View]:
    """The account that the path names, or one with such a role."""

    def check() -> None:
        account_id = (request.view_args or {}).get("account_id")
        if caller().id != account_id and caller().role not in roles:
            raise NotAuthorized

    return guard("oneself_or_roles", check, NotAuthorized)
