"""Frontdesk: accounts, workspaces, profiles and notifications on Flask.

In this repository the package is `app`; installed, it is `flask_frontdesk`. Everything it gives is
loaded when it is asked for. pytest imports the package for its plugin in every run of every project
beside which it is installed; and the sample resource must not bring its table `tasks` to a host
that has one of its own.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # The same list for those who read types; tests/test_exports.py compares the two.
    from .exports import *  # noqa: F403

# Where each name is defined.
_HOMES = {
    "accounts.models": ("AccountMixin",),
    "accounts.schemas": ("AccountRead",),
    "auth.guards": (
        "account_optional",
        "account_required",
        "active_account_required",
        "current_account",
        "roles_required",
        "superuser_required",
    ),
    "auth.idp": ("IdpUserInfo",),
    "auth.schemas": ("LoginRead",),
    "core.database": ("Base",),
    "core.errors": ("Problem", "SetupError"),
    "core.http.answering": ("answers",),
    "core.http.operation": ("anyone", "raises"),
    "core.http.reading": ("takes",),
    "core.migrating": ("run_migrations",),
    "core.migration_state": ("render_item",),
    "core.settings": (
        "AuthSettings",
        "ComposedSettings",
        "CoreSettings",
        "NotificationsSettings",
        "ProfilesSettings",
    ),
    "core.transaction": ("after_commit", "after_rollback", "transaction"),
    "extension": ("Frontdesk",),
    "factory": ("create_app",),
    "workspaces.guards": (
        "active_member_required",
        "current_member",
        "current_workspace",
        "member_required",
        "workspace_anonymous",
        "workspace_required",
        "workspace_roles_required",
    ),
    "workspaces.login": ("make_default_workspace", "workspace_claims", "workspace_payload"),
    "workspaces.resolvers": ("HeaderResolver", "PathResolver"),
    "workspaces.schemas": ("WorkspaceLoginRead",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

# Those that are called otherwise where they are defined.
_OTHERWISE = {
    "current_frontdesk": ("core.desk", "current_desk"),
    "admin_notifications": ("notifications.admin_routes", "blueprint"),
    "docs": ("core.http.docs", "blueprint"),
}

# Blueprints that are called like the folder they come from.
_BLUEPRINTS = ("auth", "health", "notifications", "profiles", "tasks", "workspaces")


def _load(home: str, name: str) -> Any:
    return getattr(import_module(f"{__name__}.{home}"), name)


class _Package(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [*_HOME_OF, *_OTHERWISE, *_BLUEPRINTS]
        if name in _OTHERWISE:
            return _load(*_OTHERWISE[name])
        if name in _HOME_OF:
            return _load(_HOME_OF[name], name)
        raise AttributeError(f"{self.__name__} has no {name}")


def _blueprint(name: str) -> property:
    # Python sets the folder's module under this name when it is imported: it is passed over.
    return property(lambda _package: _load(f"{name}.routes", "blueprint"), lambda *_given: None)


for _name in _BLUEPRINTS:
    setattr(_Package, _name, _blueprint(_name))
sys.modules[__name__].__class__ = _Package
