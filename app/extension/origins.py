"""What each setting is and where that was said, for whoever runs this installation; no secret.

The environment is the process's own; `.env` is looked at anew, and may have changed meanwhile.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from ..core.config.environment import variables
from ..core.config.settings import Namespace, Namespaces
from ..core.context import Context
from ..delivery.mail.brand import BrandSettings
from .settings import NAMESPACES, SPACES, ComposedSettings
from .sources import CONFIG, PREFIX, said_for

DEFAULT, ENVIRONMENT, DOTENV, IN_CONFIG, OBJECT = "default", "environment", ".env", "config", "host"
# What follows from other settings.
FOLLOWS = "follows"
# Names of what no page shows, where a host's own class has it as plain text.
_HIDDEN = re.compile(r"(PASSWORD|SECRET|TOKEN|CREDENTIALS|_KEYS?)$")
_PASSWORD_IN_URL = re.compile(r"(?<=://)[^/@\s]*@")


@dataclass(frozen=True)
class Setting:
    # As it is written in the environment: `AUTH__LOGIN_LIMIT`.
    name: str
    about: str
    # As a page may show it; empty: nothing.
    value: str
    is_secret: bool
    # One of the words above, and the variable's name or the object's class.
    origin: str
    where: str = ""


@dataclass(frozen=True)
class SettingsSpace:
    # Empty: those that stand by themselves.
    name: str
    settings: tuple[Setting, ...]


def settings_of(context: Context) -> list[SettingsSpace]:
    places = _Places(context)
    held = {name: context.settings.of(kind) for name, kind in NAMESPACES.items() if name != "CORE"}
    held = {"CORE": context.settings.core, **held, "BRAND": BrandSettings.read(context.settings)}
    plain = {
        name: field
        for name, field in places.plain.items()
        if name not in SPACES and not name.startswith("IDP_")
    }
    found = [SettingsSpace("", tuple(_plain(context.settings, plain, places)))]
    for name, space in held.items():
        found.append(SettingsSpace(name, tuple(_within(name, space, places))))
    return found


def _plain(
    settings: Namespaces, fields: Mapping[str, FieldInfo], places: _Places
) -> Iterator[Setting]:
    for name, field in fields.items():
        value = settings.top_level(name, field.default)
        if name.startswith("MAIL_"):
            value = places.app_config.get(name, value)
        if name == "SECRET_KEY":
            value = SecretStr(settings.secret_key if settings.secret_key_is_set else "")
        elif isinstance(field.default, SecretStr) or _HIDDEN.search(name):
            value = SecretStr(str(value or ""))
        yield _setting("", name, field, value, places)


def _within(name: str, space: Namespace, places: _Places) -> Iterator[Setting]:
    for field_name, field in type(space).model_fields.items():
        yield _setting(name, field_name, field, getattr(space, field_name), places)


def _setting(space: str, field_name: str, field: FieldInfo, value: Any, places: _Places) -> Setting:
    is_secret = _is_secret(field_name, value)
    origin, where = places.find(space, field_name, field, value)
    name = f"{space}__{field_name}" if space else field_name
    return Setting(name, field.description or "", shown(value, is_secret), is_secret, origin, where)


def shown(value: Any, is_secret: bool) -> str:
    if isinstance(value, (list, tuple)):
        if is_secret:
            return str(len(value)) if value else ""
        return ", ".join(shown(each, False) for each in value)
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if is_secret:
        return _address(str(text or ""))
    if text is None:
        return ""
    if isinstance(text, bool):
        return "true" if text else "false"
    if isinstance(text, Mapping):
        return ", ".join(f"{name}: {shown(each, False)}" for name, each in text.items())
    if isinstance(text, BaseModel):
        return type(text).__name__
    return _PASSWORD_IN_URL.sub("•••@", str(text))


def _address(secret: str) -> str:
    """Of a URL, what is beside its credentials: where a database is may be known."""
    parts = urlsplit(secret) if "://" in secret else None
    if parts is None or not parts.scheme:
        return "•••" if secret else ""
    host = parts.netloc.rpartition("@")[2]
    masked = "•••@" if "@" in parts.netloc else ""
    return f"{parts.scheme}://{masked}{host}{parts.path}"


def _is_secret(name: str, value: Any) -> bool:
    values = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(each, SecretStr) for each in values):
        return True
    return bool(_HIDDEN.search(name)) and isinstance(value, (str, list, tuple, type(None)))


class _Places:
    """Where settings are said, in the order in which they count (`sources.py`)."""

    def __init__(self, context: Context) -> None:
        self.is_guest = not context.owns_application
        self.given = variables(ComposedSettings)
        self.app_config = context.app.config
        self.config = self.app_config.get(CONFIG)
        self.base = said_for(context.settings.source)
        kind = type(self.base)
        self.reads = issubclass(kind, BaseSettings)
        fields = type(self.base).model_fields if isinstance(self.base, BaseModel) else {}
        self.is_composed = "CORE" in fields
        self.plain: Mapping[str, FieldInfo] = (
            fields if self.is_composed else ComposedSettings.model_fields
        )
        self.prefix = str(getattr(self.base, "model_config", {}).get("env_prefix", ""))

    def find(self, space: str, name: str, field: FieldInfo, value: Any) -> tuple[str, str]:
        if name.startswith("MAIL_") and name in self.app_config:
            return IN_CONFIG, f'app.config["{name}"]'
        if self.is_guest:
            found = self._variable(self._names(space, name, PREFIX, True)) or self._config(
                space, name
            )
            if found:
                return found
        if self.reads and (found := self._variable(self._own_names(space, name))):
            return found
        if value == field.get_default(call_default_factory=False):
            return DEFAULT, ""
        holder = getattr(self.base, space, self.base) if space else self.base
        if getattr(holder, name, None) != value and name not in ("SECRET_KEY", *self.plain):
            return FOLLOWS, ""
        # The class is the host's, or ours where somebody has made one by hand.
        return OBJECT, type(self.base).__name__

    def _own_names(self, space: str, name: str) -> list[str]:
        is_composed = self.is_composed or space == "BRAND"
        return self._names(space, name, self.prefix, is_composed)

    @staticmethod
    def _names(space: str, name: str, prefix: str, is_composed: bool) -> list[str]:
        if not space or not is_composed:
            return [prefix + name]
        # A whole namespace may be said as one, in JSON; some are read from the top level too.
        plain = [prefix + name] if name.startswith("IDP_") or name == "SECRET_KEY" else []
        return [*plain, f"{prefix}{space}__{name}", prefix + space]

    def _variable(self, names: list[str]) -> tuple[str, str] | None:
        for name in names:
            if name in self.given:
                return (ENVIRONMENT if name in os.environ else DOTENV), name
        return None

    def _config(self, space: str, name: str) -> tuple[str, str] | None:
        if not isinstance(self.config, Mapping):
            return None
        within = self.config.get(space) if space else self.config
        if isinstance(within, Mapping):
            is_said = name in within
        else:
            is_said = name in getattr(within, "model_fields_set", ())
        is_said = is_said or (name.startswith("IDP_") and name in self.config)
        return (IN_CONFIG, f'app.config["{CONFIG}"]') if is_said else None
