"""Resolvers return the slug of a request's workspace. Each decorator uses one resolver.

A resolver is any callable `(session, account, path_params, headers) -> slug | None`; the names of
headers are in lower case. A resolver that reads a header lists it in `documented_headers` for the
OpenAPI document.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.db.transaction import AnySession

HEADER = "X-Workspace"

PathParams = Mapping[str, Any]
Headers = Mapping[str, str]
RESOLVER_ARGUMENTS = ("session", "account", "path_params", "headers")
WorkspaceResolver = Callable[[AnySession, Any, PathParams, Headers], str | None]


@dataclass(frozen=True)
class PathResolver:
    """Reads the slug of the workspace from the path.

    Args:
        name: Name of the URL parameter.

    Example::

        @app.get("/teams/<team>")
        @member_required(resolver=PathResolver("team"))
        def show_team(team): ...
    """

    name: str = "workspace_slug"

    def __call__(
        self, session: AnySession, account: object, path_params: PathParams, headers: Headers
    ) -> str | None:
        return path_params.get(self.name)


@dataclass(frozen=True)
class HeaderResolver:
    """Reads the slug of the workspace from a header.

    Args:
        name: Name of the header.
        description: Description of the header in the OpenAPI document.

    Example::

        @app.get("/reports")
        @member_required(resolver=HeaderResolver("X-Workspace"))
        def reports(): ...
    """

    name: str = HEADER
    description: str = "Slug of the workspace"

    def __call__(
        self, session: AnySession, account: object, path_params: PathParams, headers: Headers
    ) -> str | None:
        return headers.get(self.name.lower(), "").strip()

    @property
    def documented_headers(self) -> dict[str, str]:
        return {self.name: self.description}


def documented_headers(resolver: WorkspaceResolver) -> Mapping[str, str]:
    found: Mapping[str, str] = getattr(resolver, "documented_headers", {})
    return found
