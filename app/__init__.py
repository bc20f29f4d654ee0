"""Frontdesk: accounts, workspaces, profiles and notifications on Flask.

In this repository the package is `app`; installed, it is `flask_frontdesk`. Each name is imported
at its first use, because pytest imports the package for its plugin in every project that has it
installed. `__init__.pyi` has the same names for type checkers. The blueprints are in
`flask_frontdesk.blueprints`.
"""

from importlib import import_module
from typing import Any

# The module that defines each name.
_HOMES = {
    "AccountId": "core.web.fields",
    "AccountMixin": "accounts.models",
    "AccountNotFound": "accounts.errors",
    "AccountRead": "accounts.schemas",
    "AppSetup": "extension.authenticators",
    "Audience": "notifications.receivers",
    "AuditSettings": "audit.settings",
    "Authenticated": "auth.application_credential",
    "AuthSettings": "auth.settings",
    "BrandSettings": "delivery.mail.brand",
    "AccountInbox": "extension.inbox",
    "CallerAuthenticators": "extension.authenticators",
    "CallerSessions": "extension.own_sessions",
    "ComposedSettings": "extension.settings",
    "CoreSettings": "core.config.settings",
    "EmailTaken": "accounts.errors",
    "EnrolmentRequired": "auth.mfa.errors",
    "FreshSignInRequired": "auth.errors",
    "Frontdesk": "frontdesk",
    "HeaderResolver": "workspaces.resolvers",
    "IdpUserInfo": "auth.idp.users",
    "InactiveAccount": "auth.errors",
    "IncorrectCredentials": "auth.errors",
    "InvalidEmail": "accounts.errors",
    "InvalidPhone": "accounts.errors",
    "InvalidProof": "auth.errors",
    "LoginRead": "auth.schemas",
    "Member": "workspaces.models",
    "NoChannels": "notifications.errors",
    "NotificationsSettings": "notifications.settings",
    "OwnAccountUpdate": "accounts.schemas",
    "OwnSession": "auth.sessions.management",
    "Page": "core.web.fields",
    "Parts": "extension.options",
    "PathResolver": "workspaces.resolvers",
    "Problem": "core.errors",
    "ProfileCreate": "profiles.schemas",
    "ProfileRead": "profiles.schemas",
    "ProfileUpdate": "profiles.schemas",
    "ProfilesSettings": "profiles.settings",
    "ReauthenticationRequired": "auth.errors",
    "RegistrationCreate": "registration.schemas",
    "Schemas": "extension.options",
    "SecondFactorRequired": "auth.mfa.errors",
    "SenderRequired": "notifications.errors",
    "SessionNotFound": "auth.sessions.schemas",
    "SettingsError": "core.config.environment",
    "SetupError": "core.errors",
    "TasksSettings": "tasks.settings",
    "TooManyAttempts": "auth.errors",
    "TooManyHashes": "accounts.errors",
    "UnfitPassword": "accounts.errors",
    "Unauthorized": "core.errors",
    "UnknownReceivers": "notifications.errors",
    "UtcDateTime": "core.db.base",
    "ValidationMessage": "core.coded_messages",
    "Workspace": "workspaces.models",
    "WorkspaceLoginRead": "workspaces.schemas",
    "WorkspacesSettings": "workspaces.settings",
    "WrongFactor": "auth.mfa.errors",
    "account_optional": "auth.decorators",
    "account_required": "auth.decorators",
    "active_account_required": "auth.decorators",
    "active_caller_required": "auth.decorators",
    "active_member_required": "workspaces.guards",
    "after_commit": "core.db.transaction",
    "after_rollback": "core.db.transaction",
    "answers": "core.web.responses",
    "anyone": "core.web.operation",
    "create_app": "factory",
    "current_account": "auth.decorators",
    "current_frontdesk": "core.context",
    "current_member": "workspaces.guards",
    "current_workspace": "workspaces.guards",
    "fresh_required": "auth.decorators",
    "make_default_workspace": "workspaces.login",
    "member_required": "workspaces.guards",
    "mfa_required": "auth.decorators",
    "polled": "core.web.responses",
    "raises": "core.web.operation",
    "render_item": "core.db.migrations",
    "roles_required": "auth.decorators",
    "run_migrations": "core.db.migrations",
    "scope": "auth.scopes",
    "superuser_required": "auth.decorators",
    "takes": "core.web.request_data",
    "transaction": "core.db.transaction",
    "workspace_anonymous": "workspaces.guards",
    "workspace_claims": "workspaces.login",
    "workspace_payload": "workspaces.login",
    "workspace_required": "workspaces.guards",
    "workspace_roles_required": "workspaces.guards",
}
_MODULES = ("blueprints", "testing")
# Names of Flask-Login, which this package has under other names.
_RENAMED = {"login_required": "account_required", "current_user": "current_account"}
__all__ = sorted([*_HOMES, *_MODULES])
__version__ = "0.1.0"


def __dir__() -> list[str]:
    """List the public names, which interactive shells offer for completion."""
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        hint = f": use {_RENAMED[name]}" if name in _RENAMED else ""
        raise AttributeError(f"{__name__} has no {name}{hint}")
    # Imported here, because the pytest plugin imports this package in every run of pytest.
    from .core.process.collector import paused_collector

    with paused_collector():
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
