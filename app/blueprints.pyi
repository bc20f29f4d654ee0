from .administration.routes import blueprint as administration
from .audit.routes import blueprint as events
from .auth.routes import blueprint as auth
from .core.web.docs import blueprint as docs
from .deletion.routes import blueprint as deletion
from .exports.routes import blueprint as exports
from .health.routes import blueprint as health
from .monitoring.routes import blueprint as monitoring
from .notifications.admin_routes import blueprint as admin_notifications
from .notifications.routes import blueprint as notifications
from .profiles.routes import blueprint as profiles
from .registration.routes import blueprint as registration
from .tasks.routes import blueprint as tasks
from .workspaces.invitations.routes import blueprint as invitations
from .workspaces.routes import blueprint as workspaces

__all__ = [
    "admin_notifications",
    "administration",
    "auth",
    "deletion",
    "docs",
    "events",
    "exports",
    "health",
    "invitations",
    "monitoring",
    "notifications",
    "profiles",
    "registration",
    "tasks",
    "workspaces",
]
