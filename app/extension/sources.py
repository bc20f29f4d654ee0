"""Merges the sources of the settings, and validates the result.

In an application, the first of these sources that sets a setting decides, so that operators can
override the developer's configuration:

1. Variables with our name in front, `FRONTDESK_AUTH__LOGIN_LIMIT`, of the environment or `.env`.
2. `app.config["FRONTDESK"]`, a mapping, which `app.config.from_prefixed_env()` fills as well.
3. The settings object that `init_app` was given; without one, the service's own variables,
   `AUTH__LOGIN_LIMIT`.
4. For the secret key, `app.config["SECRET_KEY"]`.

The service has one source, its settings object. `MailSettings` reads `app.config["MAIL_SERVER"]`
and the others first, as Flask-Mail does.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from flask import Flask
from pydantic import BaseModel, ValidationError
from pydantic_settings import BaseSettings

from ..core.config.environment import (
    MISSPELT,
    SettingsError,
    closest,
    load,
    variables,
    wrong_settings,
)
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
from ..delivery.mail.brand import BrandSettings
from .settings import NAMESPACES, ComposedSettings, set_fields

CONFIG = "FRONTDESK"
PREFIX = "FRONTDESK_"
TOP_LEVEL = tuple(name for name in ComposedSettings.model_fields if name not in NAMESPACES)
# Every variable `FRONTDESK_MAIL_…` is meant for Frontdesk, however it goes on.
FAMILIES = ("MAIL_", "SMS_", "IDP_")
# Names without a namespace that set a field of one.
NAMESPACE_OF = {"SECRET_KEY": "CORE"} | {
    name: "AUTH" for name in TOP_LEVEL if name.startswith("IDP_")
}
# These namespaces are fields of subclassed settings too: others have fields of the same names.
ALWAYS_NESTED = ("AUDIT", "BRAND")


class Source(NamedTuple):
    # By namespace, and by "" the names without one.
    values: dict[str, dict[str, Any]]
    origin: Callable[[str, str], SettingOrigin]


def application_settings(app: Flask, given: object | None) -> LoadedSettings:
    """Return the settings of an application that mounts Frontdesk."""
    settings = merge(
        [
            *_prefixed_variables(),
            *_configuration(app.config.get(CONFIG)),
            source_of(load(ComposedSettings) if given is None else given),
            *_key_of(app),
        ]
    )
    if settings.core.model_fields_set & {"CONSOLE_ENABLED", "CONSOLE_PATH"}:
        return settings
    # The service has the console unless it is switched off, and an application if it says so.
    return settings.derive("CORE", CONSOLE_ENABLED=False)


def service_settings(given: object) -> LoadedSettings:
    """Return the settings of the service, or of this object alone."""
    return given if isinstance(given, LoadedSettings) else merge([source_of(given)])


def merge(sources: Sequence[Source]) -> LoadedSettings:
    """Return the settings, each from the first of the sources that sets it."""
    values: dict[str, dict[str, Any]] = {name: {} for name in ("", *NAMESPACES)}
    values[""] = {name: ComposedSettings.model_fields[name].default for name in TOP_LEVEL}
    origins: dict[tuple[str, str], SettingOrigin] = {}
    for source in reversed(sources):
        for namespace, found in source.values.items():
            values[namespace] |= found
            origins |= {(namespace, name): source.origin(namespace, name) for name in found}
    namespaces = {
        name: _validate(name, kind, values[name], origins) for name, kind in NAMESPACES.items()
    }
    core = cast(CoreSettings, namespaces["CORE"])
    settings = LoadedSettings(
        core=core,
        namespaces=namespaces,
        plain=values[""],
        secret_key=reveal(core.SECRET_KEY) or secrets.token_urlsafe(48),
        origins=origins,
    )
    if settings.of(BrandSettings).NAME:
        return settings
    return settings.derive("BRAND", NAME=core.PROJECT_NAME)


def _validate(
    name: str,
    kind: type[Namespace],
    values: dict[str, Any],
    origins: Mapping[tuple[str, str], SettingOrigin],
) -> Namespace:
    def place(field: str) -> str:
        origin = origins.get((name, field), DEFAULT)
        return f", in {origin.where}" if origin.source in (IN_CONFIG, IN_CODE) else ""

    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise wrong_settings(error, kind, f"{name}__", place) from None


def source_of(given: object, prefix: str = "") -> Source:
    """Return what a settings object sets; a namespace that it lacks is read from its own fields."""
    values = {
        name: set_fields(getattr(given, name, None if name in ALWAYS_NESTED else given), kind)
        for name, kind in NAMESPACES.items()
    }
    found = set_fields(given, ComposedSettings)
    plain = {name: found[name] for name in TOP_LEVEL if found.get(name) is not None}
    for name, namespace in NAMESPACE_OF.items():
        value = plain.pop(name, None)
        if reveal(value) not in (None, "") and hasattr(given, namespace):
            values[namespace][name] = value
    if not reveal(values["CORE"].get("SECRET_KEY")):
        # An empty key is no key.
        values["CORE"].pop("SECRET_KEY", None)
    prefix = prefix or str(getattr(given, "model_config", {}).get("env_prefix", ""))
    read = variables(type(given)) if isinstance(given, BaseSettings) else {}
    return Source({"": plain, **values}, partial(_origin, given, prefix, read))


def _origin(
    given: object, prefix: str, read: Mapping[str, str | None], namespace: str, name: str
) -> SettingOrigin:
    """Return the variable that a settings object has a value from, or else the object's class."""
    model = given if isinstance(given, BaseModel) else None
    is_nested = model is not None and namespace in type(model).model_fields
    names = [prefix + name] if not is_nested or name in NAMESPACE_OF else []
    if is_nested:
        names.append(f"{prefix}{namespace}__{name}")
        if (read.get(prefix + namespace) or "").lstrip().startswith("{"):
            names.append(prefix + namespace)
    for variable in names:
        if variable in read:
            return SettingOrigin(ENVIRONMENT if variable in os.environ else DOTENV, variable)
    if model is not None and not namespace and name not in model.model_fields_set:
        return DEFAULT
    return SettingOrigin(IN_CODE, type(given).__name__)


def _prefixed_variables() -> Iterator[Source]:
    given = variables(ComposedSettings)
    names = sorted(name.removeprefix(PREFIX) for name in given if name.startswith(PREFIX))
    for name in names:
        _check_variable(name)
    if names:
        yield source_of(load(ComposedSettings, PREFIX), PREFIX)


def _check_variable(name: str) -> None:
    """Reject a name that is nearly a setting; other plain names belong to others, as
    `FRONTDESK_HOME` does. `load` rejects the unknown names within a namespace."""
    namespace, nested, field = name.partition("__")
    known = NAMESPACES if nested else (*NAMESPACES, *TOP_LEVEL)
    if namespace in known:
        return
    if nested or namespace.startswith(FAMILIES) or closest(namespace, known, likeness=MISSPELT):
        better = closest(namespace, known)
        meant = f", do you mean {PREFIX}{better}{nested}{field}?" if better else ""
        raise SettingsError(f"Wrong settings: {PREFIX}{name}: there is no such setting{meant}")


def _configuration(given: object) -> Iterator[Source]:
    place = f'app.config["{CONFIG}"]'
    if given is None:
        return
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
                f"Wrong settings: {name}: must be a valid dictionary or an instance of"
                f" {NAMESPACES[name].__name__}, in {place}"
            )
    origin = SettingOrigin(IN_CONFIG, place)
    yield Source(source_of(SimpleNamespace(**given)).values, lambda namespace, name: origin)


def _hint(name: str) -> str:
    """The likeliest: a setting written without its namespace, or as in the environment."""
    namespace, _, field = name.rpartition("__")
    for each, kind in NAMESPACES.items():
        if field in kind.model_fields and namespace in ("", each):
            return f' It is written {{"{each}": {{"{field}": …}}}}.'
    meant = closest(name, (*NAMESPACES, *TOP_LEVEL))
    return f' Do you mean "{meant}"?' if meant else ""


def _key_of(app: Flask) -> Iterator[Source]:
    if key := app.secret_key:
        origin = SettingOrigin(IN_CONFIG, 'app.config["SECRET_KEY"]')
        text = key if isinstance(key, str) else key.hex()
        yield Source({"CORE": {"SECRET_KEY": text}}, lambda namespace, name: origin)
