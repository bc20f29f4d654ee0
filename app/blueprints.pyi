from .administration.routes import blueprint as administration
from .audit.routes import blueprint as events
from .auth.login_codes.routes import blueprint as login_codes
from .auth.mfa.routes import blueprint as mfa
from .auth.passkeys.routes import blueprint as passkeys
from .auth.routes import blueprint as auth
from .auth.sessions.routes import blueprint as sessions
from .auth.tokens.well_known import blueprint as well_known
from .banners.blueprint import blueprint as banners
from .broadcasts.routes import blueprint as admin_notifications
from .console.blueprint import blueprint as console
from .core.web.docs import blueprint as docs
from .deletion.routes import blueprint as deletion
from .exports.routes import blueprint as exports
from .health import blueprint as health
from .monitoring.metrics import blueprint as monitoring
from .notifications.routes import blueprint as notifications
from .notifications.unsubscribe import blueprint as unsubscribe
from .profiles.routes import blueprint as profiles
from .registration.routes import blueprint as registration
from .tasks.routes import blueprint as tasks
from .tokens.blueprint import blueprint as tokens
from .workspaces.invitations.routes import blueprint as invitations
from .workspaces.routes import blueprint as workspaces

__all__ = [
    "admin_notifications",
    "administration",
    "auth",
    "banners",
    "console",
    "deletion",
    "docs",
    "events",
    "exports",
    "health",
    "invitations",
    "login_codes",
    "mfa",
    "monitoring",
    "notifications",
    "passkeys",
    "profiles",
    "registration",
    "sessions",
    "tasks",
    "tokens",
    "unsubscribe",
    "well_known",
    "workspaces",
]
