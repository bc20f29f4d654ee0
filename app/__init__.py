"""Frontdesk: accounts, workspaces, profiles and notifications on Flask.

In this repository the package is `app`; installed, it is `flask_frontdesk`. Everything it gives is
loaded when it is asked for: pytest imports the package for its plugin in every run of every project
beside which it is installed. `__init__.pyi` says the same to type checkers; the blueprints have a
door of their own, `flask_frontdesk.blueprints`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each name is defined.
_HOMES = {
    "AccountId": "core.web.fields",
    "AccountMixin": "accounts.models",
    "AccountNotFound": "accounts.errors",
    "AccountRead": "accounts.schemas",
    "AuditSettings": "audit.settings",
    "AuthSettings": "auth.settings",
    "BrandSettings": "delivery.mail.brand",
    "ComposedSettings": "extension.settings",
    "CoreSettings": "core.config.settings",
    "EmailTaken": "accounts.errors",
    "Frontdesk": "extension.frontdesk",
    "HeaderResolver": "workspaces.resolvers",
    "IdpUserInfo": "auth.idp.service",
    "InactiveAccount": "auth.errors",
    "IncorrectCredentials": "auth.errors",
    "InvalidEmail": "accounts.errors",
    "InvalidPhone": "accounts.errors",
    "LoginRead": "auth.schemas",
    "Member": "workspaces.models",
    "NoChannels": "notifications.errors",
    "RegistrationCreate": "registration.schemas",
    "NotificationsSettings": "notifications.settings",
    "Page": "core.web.fields",
    "Parts": "extension.options",
    "PathResolver": "workspaces.resolvers",
    "Problem": "core.errors",
    "ProfileCreate": "profiles.schemas",
    "ProfileRead": "profiles.schemas",
    "ProfileUpdate": "profiles.schemas",
    "ProfilesSettings": "profiles.settings",
    "Schemas": "extension.options",
    "SenderRequired": "notifications.errors",
    "SettingsError": "core.config.environment",
    "SetupError": "core.errors",
    "TasksSettings": "tasks.settings",
    "TooManyAttempts": "auth.errors",
    "TooManyHashes": "accounts.errors",
    "UnfitPassword": "accounts.errors",
    "UnknownReceivers": "notifications.errors",
    "Workspace": "workspaces.models",
    "UtcDateTime": "core.db.base",
    "WorkspaceLoginRead": "workspaces.schemas",
    "WorkspacesSettings": "workspaces.settings",
    "account_optional": "auth.guards",
    "account_required": "auth.guards",
    "active_account_required": "auth.guards",
    "active_member_required": "workspaces.guards",
    "after_commit": "core.db.transaction",
    "after_rollback": "core.db.transaction",
    "answers": "core.web.answering",
    "anyone": "core.web.operation",
    "create_app": "factory",
    "current_account": "auth.guards",
    "current_frontdesk": "core.context",
    "current_member": "workspaces.guards",
    "current_workspace": "workspaces.guards",
    "fresh_required": "auth.guards",
    "make_default_workspace": "workspaces.login",
    "member_required": "workspaces.guards",
    "mfa_required": "auth.guards",
    "polled": "core.web.answering",
    "raises": "core.web.operation",
    "render_item": "core.db.migration_state",
    "roles_required": "auth.guards",
    "run_migrations": "core.db.migrations",
    "superuser_required": "auth.guards",
    "takes": "core.web.reading",
    "transaction": "core.db.transaction",
    "workspace_anonymous": "workspaces.guards",
    "workspace_claims": "workspaces.login",
    "workspace_payload": "workspaces.login",
    "workspace_required": "workspaces.guards",
    "workspace_roles_required": "workspaces.guards",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"{__name__} has no {name}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
