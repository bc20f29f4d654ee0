"""Scopes: what a program may do with a token.

A route names its scopes with `@scope`. A credential with scopes is accepted only by routes that
name scopes, and only if it has all of them: see `caller.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from flask import Flask

from ..core.context import Context, WhenServing
from ..core.errors import SetupError
from ..core.hooks import check_known
from ..core.web.operation import (
    Params,
    Result,
    RouteCheck,
    ViewDecorator,
    known_operations,
    separate,
)

ACCOUNT_READ = "account:read"
NOTIFICATIONS_READ, NOTIFICATIONS_WRITE = "notifications:read", "notifications:write"
NOTIFICATIONS_SEND = "notifications:send"
PROFILES_READ, PROFILES_WRITE = "profiles:read", "profiles:write"
WORKSPACES_READ = "workspaces:read"
MEMBERS_READ, MEMBERS_WRITE = "members:read", "members:write"
AUDIT_READ = "audit:read"
ACCOUNTS_READ, ACCOUNTS_WRITE = "accounts:read", "accounts:write"

SCOPES: Mapping[str, str] = {
    ACCOUNT_READ: "Read your account",
    NOTIFICATIONS_READ: "Read your inbox and notification preferences",
    NOTIFICATIONS_WRITE: "Change your inbox and notification preferences",
    NOTIFICATIONS_SEND: "Send notifications as an admin",
    PROFILES_READ: "Read profiles",
    PROFILES_WRITE: "Change profiles",
    WORKSPACES_READ: "Read your workspaces",
    MEMBERS_READ: "Read the members and invitations of workspaces",
    MEMBERS_WRITE: "Change the members and invitations of workspaces",
    AUDIT_READ: "Read audit logs",
    ACCOUNTS_READ: "Read all accounts as an admin",
    ACCOUNTS_WRITE: "Create and change accounts as an admin",
}

NAME_LENGTH = 64


def scope(*names: str, workspace: bool = True) -> ViewDecorator:
    """Accept tokens with these scopes; without it, a route accepts no credential with scopes.

    Write it below an authentication decorator. Callers without scopes, such as users who signed
    in, are not affected.

    Args:
        names: Names of scopes, such as `notifications:read`. A token must have all of them.
        workspace: False also accepts tokens of one workspace at a route outside of workspaces.

    Example::

        @app.get("/orders")
        @active_account_required
        @scope("orders:read")
        def list_orders(): ...
    """
    if not names or not all(isinstance(name, str) for name in names):
        raise SetupError('@scope takes the names of scopes: @scope("account:read")')

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        separated, described = separate(view)
        described.scopes.extend(name for name in names if name not in described.scopes)
        described.only_in_workspace |= workspace
        return separated

    return decorate


class Scopes(NamedTuple):
    """The scopes of one application."""

    # The descriptions by name; the application's can be declared later.
    known: Mapping[str, str]

    def check(self, app: Flask) -> None:
        """Raise SetupError for a view with an unknown scope, or without authentication."""
        for endpoint, described in known_operations(app):
            for name in described.scopes:
                check_known("scope", name, self.known, f'declared: frontdesk.scope("{name}", "…")')
            if described.scopes and (not described.bearer or described.optional):
                raise SetupError(
                    f"@scope of '{endpoint}' has no effect without an authentication decorator: add"
                    " one above it, such as @active_account_required."
                )


def check_declared(name: str, description: str, taken: Iterable[str]) -> None:
    """Raise SetupError for a scope that an application cannot declare."""
    if not re.fullmatch("[a-z][a-z0-9_-]*(:[a-z][a-z0-9_-]*)+", name) or len(name) > NAME_LENGTH:
        raise SetupError(f"A scope is written as `orders:read` is, not {name!r}.")
    if name in taken:
        raise SetupError(f"{name!r} is a scope of Frontdesk.")
    if not description.strip():
        raise SetupError(f'The scope {name!r} needs a description: frontdesk.scope("{name}", "…")')


def add_scopes(context: Context, known: Mapping[str, str]) -> None:
    scopes = Scopes(known)
    context.add(scopes)

    def check() -> None:
        scopes.check(context.app)

    context.contribute(RouteCheck(check), WhenServing(check))
