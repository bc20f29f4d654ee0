"""Settings that are set and have no effect."""

from collections.abc import Iterable, Iterator, Mapping

from flask import Flask

from ..core.config.environment import MISSPELT, closest, variables
from ..core.config.removed_settings import REMOVED_SETTINGS
from ..core.config.settings import IN_CODE, IN_CONFIG, LoadedSettings, reveal
from ..core.context import Context
from ..extension.settings import NAMESPACES, ComposedSettings
from ..extension.sources import CONFIG, FAMILIES, PREFIX, TOP_LEVEL

FLASK_MAIL_ONLY = ("MAIL_ASCII_ATTACHMENTS", "MAIL_DEBUG", "MAIL_MAX_EMAILS")


_LOGGING = "configure logging in your application"
_MONITORING = "instrument your application itself"
# The advice for applications, in which these settings of the service have no effect.
SERVICE_ONLY = {
    ("CORE", "API_V1_STR"): "pass url_prefix= to register_blueprint",
    ("CORE", "DATABASE_URL"): "configure the database of the SQLAlchemy object that you pass",
    ("CORE", "DATABASE_POOL_SIZE"): "configure the engine of the SQLAlchemy object that you pass",
    ("CORE", "DATABASE_PREPARED"): "pass prepare_threshold in connect_args to your engine",
    ("CORE", "LOG_FORMAT"): _LOGGING,
    ("CORE", "LOG_LEVEL"): _LOGGING,
    ("CORE", "METRICS_ENABLED"): _MONITORING,
    ("CORE", "METRICS_BIND"): _MONITORING,
    ("CORE", "TRACING_ENABLED"): _MONITORING,
    ("TASKS", "ENABLED"): "register the blueprint tasks only if you need its routes",
}


def unread_names(context: Context) -> Iterator[str]:
    """Yield a message for each name that is set and has no effect."""
    app, given = context.app, variables(ComposedSettings)
    yield from _misspelt(sorted({*given, *map(str, app.config)}))
    if context.owns_application:
        yield from _prefixed(given)
    else:
        yield from _overridden(app, given)
        yield from _service_only(context.settings)


def _prefixed(given: Iterable[str]) -> Iterator[str]:
    for name in sorted(given):
        plain = name.removeprefix(PREFIX)
        if plain in REMOVED_SETTINGS:
            continue
        if plain != name and (plain in TOP_LEVEL or plain.partition("__")[0] in NAMESPACES):
            yield f"The service does not read {name}. Set {plain} instead."


def _overridden(app: Flask, given: Mapping[str, str | None]) -> Iterator[str]:
    config = app.config.get(CONFIG) or {}
    for name in TOP_LEVEL:
        if not name.startswith("MAIL_") or name not in app.config:
            continue
        places = {
            PREFIX + name: given.get(PREFIX + name),
            f'app.config["{PREFIX}{name}"]': app.config.get(PREFIX + name),
            f'app.config["{CONFIG}"]["{name}"]': config.get(name),
        }
        for where, value in places.items():
            if value is not None and _text(value) != _text(app.config[name]):
                yield f'{where} has no effect, because app.config["{name}"] is set. Remove one.'


def _service_only(settings: LoadedSettings) -> Iterator[str]:
    """Plain variables are left out: a service may read the same environment."""
    for (namespace, name), advice in SERVICE_ONLY.items():
        source, where = settings.origin(namespace, name)
        if source in (IN_CONFIG, IN_CODE) or where.startswith(PREFIX):
            yield (
                f"{namespace}__{name} (set in {where}) has no effect in an application that mounts"
                f" Frontdesk. Remove the setting, and {advice}."
            )


def _misspelt(names: Iterable[str]) -> Iterator[str]:
    known = (*TOP_LEVEL, *FLASK_MAIL_ONLY)
    for name in names:
        is_unknown = name.startswith(FAMILIES) and name not in known
        if is_unknown and (better := closest(name, TOP_LEVEL, similarity=MISSPELT)):
            yield f"The setting {name} does not exist. Do you mean {better}?"


def _text(value: object) -> str:
    """Return a value as text: variables are text, and Flask's configuration has other types."""
    return str(reveal(value)).lower()
