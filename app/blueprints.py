"""The blueprints to mount: `from flask_frontdesk.blueprints import auth, profiles`.

Each is imported at its first use. `blueprints.pyi` has the same names for type checkers.
"""

from importlib import import_module
from typing import Any

from .core.process.collector import paused_collector

_HOMES = {
    "administration": "administration.routes",
    "admin_notifications": "broadcasts.routes",
    "auth": "auth.routes",
    "banners": "banners.blueprint",
    "console": "console.blueprint",
    "deletion": "deletion.routes",
    "docs": "core.web.docs",
    "events": "audit.routes",
    "exports": "exports.routes",
    "health": "health",
    "invitations": "workspaces.invitations.routes",
    "login_codes": "auth.login_codes.routes",
    "mfa": "auth.mfa.routes",
    "monitoring": "monitoring.metrics",
    "notifications": "notifications.routes",
    "passkeys": "auth.passkeys.routes",
    "profiles": "profiles.routes",
    "registration": "registration.routes",
    "sessions": "auth.sessions.routes",
    "tasks": "tasks.routes",
    "tokens": "tokens.blueprint",
    "unsubscribe": "notifications.unsubscribe",
    "well_known": "auth.tokens.well_known",
    "workspaces": "workspaces.routes",
}
__all__ = sorted(_HOMES)


def __dir__() -> list[str]:
    return __all__


@paused_collector()
def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"{__name__} has no {name}")
    return import_module(f".{_HOMES[name]}", __package__).blueprint
