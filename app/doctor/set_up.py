"""Checks of the application: secret key, settings, decorators."""

from collections.abc import Iterator

from flask import current_app

from ..core.config.environment import is_foreign, variables
from ..core.context import current_frontdesk, find_context
from ..core.doctor import Finding
from ..core.web.operation import find_misplaced_decorators
from ..extension.production import MIN_KEY_BYTES, weakness
from ..extension.settings import NAMESPACES, ComposedSettings
from ..extension.sources import FORMER_KEYS, KEY, application_key
from .unread_settings import unread_names

_NEW_KEY = f"Set SECRET_KEY to a random value of at least {MIN_KEY_BYTES} bytes."


def check_secret_key() -> Iterator[Finding]:
    settings = current_frontdesk.settings
    if not settings.secret_key_is_set:
        text = f"SECRET_KEY is not set. {_NEW_KEY}"
        yield Finding("secret_key", "fault", text)
        return
    variable = settings.origin(*FORMER_KEYS).where
    own = application_key(current_frontdesk.app)
    if variable.endswith("SECRET_KEY") or own not in ("", settings.secret_key):
        other = variable if variable.endswith("SECRET_KEY") else settings.origin(*KEY).where
        text = (
            f'{other} and app.config["SECRET_KEY"] differ, so Frontdesk and other programs may sign'
            " with different keys. Set only one of the two."
        )
        yield Finding("secret_key", "fault", text)
    if why := weakness(settings.secret_key):
        yield Finding("secret_key", "fault", f"SECRET_KEY {why}. {_NEW_KEY}")


def check_settings() -> Iterator[Finding]:
    """An unknown name may belong to the application; a misspelt setting is an error."""
    for text in unread_names(find_context()):
        yield Finding("settings", "fault", text)
    if current_frontdesk.owns_application:
        return
    given = variables(ComposedSettings)
    names = sorted(name for name in given if "__" in name and is_foreign(name, None, NAMESPACES))
    if names:
        text = (
            "These names are no settings of Frontdesk, which ignores them:"
            f" {', '.join(names)}. Check their spelling."
        )
        yield Finding("settings", "warning", text)


def check_guards() -> Iterator[Finding]:
    for endpoint in find_misplaced_decorators(current_app):
        text = (
            f"A decorator of '{endpoint}' is above its route and has no effect. Write the route"
            " first, and all other decorators below it."
        )
        yield Finding("guards", "fault", text)
