"""What the package gives, for those who read types; `__init__.py` loads it, each by itself."""

from __future__ import annotations

from .accounts.models import AccountMixin
from .accounts.schemas import AccountRead
from .auth.guards import (
    account_optional,
    account_required,
    active_account_required,
    current_account,
    roles_required,
    superuser_required,
)
from .auth.idp import IdpUserInfo
from .auth.routes import blueprint as auth
from .auth.schemas import LoginRead
from .core.database import Base
from .core.desk import current_desk as current_frontdesk
from .core.errors import Problem, SetupError
from .core.http.answering import answers
from .core.http.docs import blueprint as docs
from .core.http.operation import anyone, raises
from .core.http.reading import takes
from .core.migrating import run_migrations
from .core.migration_state import render_item
from .core.settings import (
    AuthSettings,
    ComposedSettings,
    CoreSettings,
    NotificationsSettings,
    ProfilesSettings,
)
from .core.transaction import after_commit, after_rollback, transaction
from .extension import Frontdesk
from .factory import create_app
from .health.routes import blueprint as health
from .notifications.admin_routes import blueprint as admin_notifications
from .notifications.routes import blueprint as notifications
from .profiles.routes import blueprint as profiles
from .tasks.routes import blueprint as tasks
from .workspaces.guards import (
    active_member_required,
    current_member,
    current_workspace,
    member_required,
    workspace_anonymous,
    workspace_required,
    workspace_roles_required,
)
from .workspaces.login import make_default_workspace, workspace_claims, workspace_payload
from .workspaces.resolvers import HeaderResolver, PathResolver
from .workspaces.routes import blueprint as workspaces
from .workspaces.schemas import WorkspaceLoginRead

__all__ = [
    "AccountMixin",
    "AccountRead",
    "AuthSettings",
    "Base",
    "ComposedSettings",
    "CoreSettings",
    "Frontdesk",
    "HeaderResolver",
    "IdpUserInfo",
    "LoginRead",
    "NotificationsSettings",
    "PathResolver",
    "Problem",
    "ProfilesSettings",
    "SetupError",
    "WorkspaceLoginRead",
    "account_optional",
    "account_required",
    "active_account_required",
    "active_member_required",
    "admin_notifications",
    "after_commit",
    "after_rollback",
    "answers",
    "anyone",
    "auth",
    "create_app",
    "current_account",
    "current_frontdesk",
    "current_member",
    "current_workspace",
    "docs",
    "health",
    "make_default_workspace",
    "member_required",
    "notifications",
    "profiles",
    "raises",
    "render_item",
    "roles_required",
    "run_migrations",
    "superuser_required",
    "takes",
    "tasks",
    "transaction",
    "workspace_anonymous",
    "workspace_claims",
    "workspace_payload",
    "workspace_required",
    "workspace_roles_required",
    "workspaces",
]
