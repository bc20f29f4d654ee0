"""Merges the sources of the settings, and validates the result once.

In an application, operators can override the developer's configuration. The first of these sources
that sets a setting decides:

1. Variables with our name in front, `FRONTDESK_AUTH__LOGIN_LIMIT`, of the environment or `.env`.
2. `app.config["FRONTDESK"]`, a mapping, which `app.config.from_prefixed_env()` fills as well.
3. `app.config["FRONTDESK_AUTH__LOGIN_LIMIT"]` and its like.
4. The settings object that `init_app` was given; without one, the service's own variables,
   `AUTH__LOGIN_LIMIT`.
5. For the secret key, `app.config["SECRET_KEY"]`, which also wins over a key of the environment:
   Flask signs its session with it.

The service has one source, its settings object. `MailSettings` reads `app.config["MAIL_SERVER"]`
and the others first, as Flask-Mail does.
"""

import logging
import secrets
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

from flask import Flask
from pydantic import BaseModel, ValidationError
from pydantic_settings import BaseSettings

from ..core.config.environment import (
    MISSPELT,
    SettingsError,
    closest,
    dotenv_names,
    load,
    variables,
    wrong_settings,
)
from ..core.config.removed_settings import REMOVED_SETTINGS
from ..core.config.settings import (
    DEFAULT,
    DOTENV,
    ENVIRONMENT,
    IN_CODE,
    IN_CONFIG,
    CoreSettings,
    LoadedSettings,
    Namespace,
    SettingOrigin,
    reveal,
)
from ..core.types import JsonObject
from ..delivery.mail.brand import BrandSettings
from .settings import NAMESPACES, ComposedSettings, set_fields

CONFIG = "FRONTDESK"
PREFIX = "FRONTDESK_"
TOP_LEVEL = tuple(name for name in ComposedSettings.model_fields if name not in NAMESPACES)
# Prefixes of settings: an unknown variable such as `FRONTDESK_MAIL_X` is an error.
FAMILIES = ("MAIL_", "SMS_", "IDP_")
# Names without a namespace that set a field of one.
NAMESPACE_OF = {"SECRET_KEY": "CORE"} | {
    name: "AUTH" for name in TOP_LEVEL if name.startswith("IDP_")
}
# Namespaces that subclassed settings have as fields too, because their field names are ambiguous.
ALWAYS_NESTED = ("AUDIT", "BRAND")
KEY = ("CORE", "SECRET_KEY")
FORMER_KEYS = ("CORE", "SECRET_KEY_FALLBACKS")

log = logging.getLogger(__name__)


# What a source sets: values and their origins, by namespace ("" without one) and name.
SettingValues = dict[tuple[str, str], tuple[Any, SettingOrigin]]


def application_settings(app: Flask, given: object | None) -> LoadedSettings:
    values = {
        **_key_of(app),
        **_object(load(ComposedSettings) if given is None else given),
        **_flat_configuration(app.config),
        **_configuration(app.config.get(CONFIG), f'app.config["{CONFIG}"]'),
        **_prefixed_variables(),
    }
    _prefer_key_of(app, values)
    settings = _validate(values)
    if settings.core.model_fields_set & {"CONSOLE_ENABLED", "CONSOLE_PATH"}:
        return settings
    # The service has the console unless it is switched off, and an application if it says so.
    return settings.derive("CORE", CONSOLE_ENABLED=False)


def service_settings(given: object) -> LoadedSettings:
    """Return the settings of the service, or of this object alone."""
    return given if isinstance(given, LoadedSettings) else _validate(_object(given))


def _validate(values: SettingValues) -> LoadedSettings:
    by_namespace: dict[str, JsonObject] = {name: {} for name in ("", *NAMESPACES)}
    removed = {}
    for (namespace, name), (value, origin) in values.items():
        if (full_name := f"{namespace}__{name}") in REMOVED_SETTINGS:
            removed[full_name] = origin
        else:
            by_namespace[namespace][name] = value
    origins = {key: origin for key, (_, origin) in values.items()}
    namespaces: dict[str, Namespace] = {}
    for namespace, kind in NAMESPACES.items():
        try:
            namespaces[namespace] = kind.model_validate(by_namespace[namespace])
        except ValidationError as error:
            keys = [(namespace, str(fault["loc"][0])) for fault in error.errors()]
            places = ", ".join(sorted({origins.get(key, DEFAULT).where for key in keys}))
            wrong = wrong_settings(error, kind, f"{namespace}__")
            raise SettingsError(f"{wrong}, in {places}") from None
    core = cast(CoreSettings, namespaces["CORE"])
    defaults = {name: ComposedSettings.model_fields[name].default for name in TOP_LEVEL}
    settings = LoadedSettings(
        core=core,
        namespaces=namespaces,
        plain={**defaults, **by_namespace[""]},
        secret_key=reveal(core.SECRET_KEY) or secrets.token_urlsafe(48),
        origins=origins,
        removed=removed,
    )
    if settings.of(BrandSettings).NAME:
        return settings
    return settings.derive("BRAND", NAME=core.PROJECT_NAME)


def _set_values(given: object) -> dict[tuple[str, str], Any]:
    """Return what an object sets; a namespace that it lacks is read from its own attributes."""
    values = {}
    for namespace, kind in NAMESPACES.items():
        holder = getattr(given, namespace, None if namespace in ALWAYS_NESTED else given)
        for name, value in set_fields(holder, kind).items():
            values[namespace, name] = value
    plain = set_fields(given, ComposedSettings)
    for name in plain.keys() & TOP_LEVEL:
        namespace = NAMESPACE_OF.get(name, "")
        if plain[name] is None or (namespace and not hasattr(given, namespace)):
            continue
        if not namespace or reveal(plain[name]) != "":
            values[namespace, name] = plain[name]
    if not reveal(values.get(KEY)):
        # An empty key leaves the next source's key.
        values.pop(KEY, None)
    return values


def _object(given: object, prefix: str = "") -> SettingValues:
    prefix = prefix or str(getattr(given, "model_config", {}).get("env_prefix", ""))
    read = variables(type(given)) if isinstance(given, BaseSettings) else {}
    values = _set_values(given)
    for namespace, kind in NAMESPACES.items():
        # A flat class ignores variables with the names of its removed fields.
        if isinstance(given, kind):
            removed = {name for name in kind.removed_fields() if prefix + name in read}
            values.update(((namespace, name), None) for name in removed)
    in_file = dotenv_names(type(given)) if isinstance(given, BaseSettings) else set()

    def find_origin(namespace: str, name: str) -> SettingOrigin:
        if variable := _variable(given, prefix, read, namespace, name):
            return SettingOrigin(DOTENV if variable in in_file else ENVIRONMENT, variable)
        is_default = isinstance(given, BaseModel) and name not in given.model_fields_set
        if is_default and not namespace:
            return DEFAULT
        return SettingOrigin(IN_CODE, type(given).__name__)

    return {key: (value, find_origin(*key)) for key, value in values.items()}


def _variable(
    given: object, prefix: str, read: Mapping[str, str | None], namespace: str, name: str
) -> str | None:
    """Return the name of the variable that a settings object has a value from, or None."""
    is_nested = isinstance(given, BaseModel) and namespace in type(given).model_fields
    names = [prefix + name] if not is_nested or name in NAMESPACE_OF else []
    if is_nested:
        names.append(f"{prefix}{namespace}__{name}")
        if (read.get(prefix + namespace) or "").lstrip().startswith("{"):
            names.append(prefix + namespace)
    return next((variable for variable in names if variable in read), None)


def _prefixed_variables() -> SettingValues:
    given = variables(ComposedSettings)
    names = sorted(name.removeprefix(PREFIX) for name in given if name.startswith(PREFIX))
    for name in names:
        _check_variable(name)
    return _object(load(ComposedSettings, PREFIX), PREFIX) if names else {}


def _check_variable(name: str) -> None:
    """Reject a name that is nearly a setting; other plain names belong to others, as
    `FRONTDESK_HOME` does. `load` rejects the unknown names within a namespace."""
    namespace, nested, field = name.partition("__")
    known = NAMESPACES if nested else (*NAMESPACES, *TOP_LEVEL)
    if namespace in known:
        return
    if nested or namespace.startswith(FAMILIES) or closest(namespace, known, similarity=MISSPELT):
        better = closest(namespace, known)
        meant = f", did you mean {PREFIX}{better}{nested}{field}?" if better else ""
        raise SettingsError(f"Invalid settings: {PREFIX}{name}: unknown setting{meant}")


def _flat_configuration(config: Mapping[str, Any]) -> SettingValues:
    """Read `app.config["FRONTDESK_AUTH__LOGIN_LIMIT"]` and its like."""
    nested = [f"{name}__{field}" for name in NAMESPACES for field in NAMESPACES[name].model_fields]
    known = {*NAMESPACES, *TOP_LEVEL, *REMOVED_SETTINGS, *nested}
    values: SettingValues = {}
    for key in sorted(key for key in config if key.startswith(PREFIX)):
        place, name = f'app.config["{key}"]', key.removeprefix(PREFIX)
        if name not in known:
            better = closest(name, known)
            meant = f", did you mean {PREFIX}{better}?" if better else ""
            raise SettingsError(f"Invalid settings: {place}: unknown setting{meant}")
        namespace, is_nested, field = name.partition("__")
        given = {namespace: {field: config[key]}} if is_nested else {name: config[key]}
        values.update(_configuration(given, place))
    return values


def _configuration(given: object, place: str) -> SettingValues:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SettingsError(
            f"{place} is a mapping of mappings,"
            ' such as {"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": 60}}.'
        )
    for name, value in given.items():
        if name not in NAMESPACES and name not in TOP_LEVEL:
            raise SettingsError(f'{place} has no setting "{name}".{_hint(str(name))}')
        if name in NAMESPACES and not isinstance(value, (Mapping, NAMESPACES[name])):
            raise SettingsError(
                f"Invalid settings: {name}: must be a valid dictionary or an instance of"
                f" {NAMESPACES[name].__name__}, in {place}"
            )
    origin = SettingOrigin(IN_CONFIG, place)
    return {key: (value, origin) for key, value in _set_values(SimpleNamespace(**given)).items()}


def _hint(name: str) -> str:
    """Return the likely correction: a missing namespace, or the name from the environment."""
    namespace, _, field = name.rpartition("__")
    for known, kind in NAMESPACES.items():
        if field in kind.model_fields and namespace in ("", known):
            return f' Write {{"{known}": {{"{field}": …}}}}.'
    meant = closest(name, (*NAMESPACES, *TOP_LEVEL))
    return f' Do you mean "{meant}"?' if meant else ""


def application_key(app: Flask) -> str:
    """Return the key of `app.config`, or an empty string."""
    key = app.secret_key or ""
    return key if isinstance(key, str) else key.hex()


def _key_of(app: Flask) -> SettingValues:
    key = application_key(app)
    return {KEY: (key, SettingOrigin(IN_CONFIG, 'app.config["SECRET_KEY"]'))} if key else {}


def _prefer_key_of(app: Flask, values: SettingValues) -> None:
    """Replace a key of the environment by the key of `app.config`, and make it a fallback."""
    key, origin = values.get(KEY, ("", DEFAULT))
    own = _key_of(app)
    if not own or origin.source not in (ENVIRONMENT, DOTENV) or reveal(key) == own[KEY][0]:
        return
    log.warning(
        '%s differs from app.config["SECRET_KEY"], which signs new tokens and links. Tokens of the'
        " other key are still accepted. Set only one of the two keys.",
        origin.where,
    )
    former, _ = values.get(FORMER_KEYS, ([], DEFAULT))
    values.update(own)
    # The doctor finds the name of the variable here.
    values[FORMER_KEYS] = ([*former, key], origin)
