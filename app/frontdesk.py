"""`Frontdesk`: the extension with its command line."""

from collections.abc import Collection

from flask import Flask

from . import blueprints
from .auth.settings import AuthSettings
from .cli.groups import add_commands
from .core.context import EXTENSION, Context
from .core.errors import SetupError
from .extension.frontdesk import Extension
from .extension.signing_in import A
from .tasks.settings import TasksSettings


class Frontdesk(Extension[A]):
    """The extension: create one object, and initialize each application with it.

    The object holds your hooks, listeners and events. Give it your account class as a type
    parameter: `Frontdesk[Account]()` types `current_account` and `accounts`.

    Example::

        db = SQLAlchemy()
        frontdesk = Frontdesk()

        def create_app():
            app = Flask(__name__)
            db.init_app(app)
            frontdesk.init_app(app, db, account_model=Account)
            app.register_blueprint(blueprints.auth, url_prefix="/api/v1")
            return app
    """

    def mount(self, app: Flask, prefix: str = "", *, only: Collection[str] | None = None) -> None:
        """Mount blueprints of the API at the prefixes that the service uses.

        Call it after `init_app`. Mount other blueprints, such as the console, yourself.

        Args:
            app: The initialized application.
            prefix: Prefix of all paths, such as `/api`.
            only: Names of blueprints, such as `auth` and `workspaces`. Default: all that the
                settings enable, without the sample resource `tasks`.

        Raises:
            SetupError: A name is unknown, or a blueprint needs a setting that is missing.

        Example::

            frontdesk.init_app(app, db, account_model=Account)
            frontdesk.mount(app, "/api", only=["auth", "registration", "workspaces"])
        """
        context: Context = app.extensions[EXTENSION]
        _mount(app, prefix.rstrip("/"), _enabled_names(context) if only is None else only)

    def _add_commands(self, context: Context) -> None:
        add_commands(context)


# The API's blueprints and their usual prefixes after that of the API, in the order of their tags in
# the OpenAPI document.
_PREFIXES = {
    "auth": "",
    "registration": "",
    "sessions": "",
    "mfa": "",
    "passkeys": "",
    "login_codes": "",
    "tokens": "",
    "exports": "",
    "deletion": "",
    "workspaces": "/workspaces",
    "invitations": "",
    "profiles": "/profiles",
    "notifications": "/notifications",
    "unsubscribe": "",
    "admin_notifications": "/admin/notifications",
    "banners": "",
    "administration": "/admin/accounts",
    "events": "",
    "tasks": "/tasks",
    "health": "",
    "docs": "",
}


def _mount(app: Flask, prefix: str, names: Collection[str]) -> None:
    if unknown := sorted(set(names) - _PREFIXES.keys()):
        raise SetupError(
            f"frontdesk.mount knows no blueprint {', '.join(unknown)}, only {', '.join(_PREFIXES)}."
        )
    for name, path in _PREFIXES.items():
        if name not in names:
            continue
        app.register_blueprint(getattr(blueprints, name), url_prefix=f"{prefix}{path}")
        if name == "profiles" and "workspaces" in names:
            app.register_blueprint(
                getattr(blueprints, name),
                url_prefix=f"{prefix}/<workspace_slug>{path}",
                name="workspace_profiles",
            )


def _enabled_names(context: Context) -> Collection[str]:
    """Return the names of the API's blueprints that the settings enable. The sample resource is for
    the service, as its setting is."""
    auth = context.settings.of(AuthSettings)
    optional = {
        "sessions": auth.keeps_sessions,
        "mfa": auth.keeps_authenticators,
        "passkeys": auth.takes_passkeys,
        "login_codes": auth.LOGIN_BY_CODE == "on",
        "tokens": auth.PERSONAL_TOKENS == "on",
        "exports": auth.ACCOUNT_EXPORTS == "on",
        "tasks": context.owns_application and context.settings.of(TasksSettings).ENABLED,
    }
    return [name for name in _PREFIXES if optional.get(name, True)]
