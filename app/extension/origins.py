"""The value and the origin of each setting, for the operator; secrets are masked."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, SecretStr

from ..core.config.settings import IN_CONFIG, SettingOrigin, reveal
from ..core.context import Context
from .settings import ComposedSettings
from .sources import NAMESPACE_OF

# Names of secrets, which an application's own settings class may declare as plain strings.
_HIDDEN = re.compile(r"(PASSWORD|SECRET|TOKEN|CREDENTIALS|_KEYS?)$")
# To the last @, because a password may have any character.
_PASSWORD_IN_URL = re.compile(r"(?<=://)\S*@")


@dataclass(frozen=True)
class Setting:
    # The name in the environment: `AUTH__LOGIN_LIMIT`.
    name: str
    about: str
    # The value as text, with secrets masked; empty: no value.
    value: str
    is_secret: bool
    # The source of its origin, and the variable's name or the object's class.
    origin: str
    where: str = ""


@dataclass(frozen=True)
class SettingsSpace:
    # Empty: the settings without a namespace.
    name: str
    settings: tuple[Setting, ...]


def settings_of(context: Context) -> list[SettingsSpace]:
    settings = context.settings
    found = [SettingsSpace("", tuple(_plain(context)))]
    for name, namespace in settings.namespaces.items():
        rows = (
            _setting(
                f"{name}__{field}",
                about.description,
                getattr(namespace, field),
                settings.origin(name, field),
            )
            for field, about in type(namespace).model_fields.items()
        )
        found.append(SettingsSpace(name, tuple(rows)))
    return found


def _plain(context: Context) -> Iterator[Setting]:
    settings, config = context.settings, context.app.config
    fields = ComposedSettings.model_fields
    values = {**settings.plain, "SECRET_KEY": settings.core.SECRET_KEY}
    for name, value in values.items():
        if name.startswith("IDP_"):
            continue
        origin = settings.origin(NAMESPACE_OF.get(name, ""), name)
        if name.startswith("MAIL_") and name in config:
            value, origin = config[name], SettingOrigin(IN_CONFIG, f'app.config["{name}"]')
        yield _setting(name, fields[name].description, value, origin)


def _setting(name: str, about: str | None, value: object, origin: SettingOrigin) -> Setting:
    is_secret = _is_secret(name, value)
    return Setting(name, about or "", shown(value, is_secret), is_secret, *origin)


def shown(value: object, is_secret: bool) -> str:
    if isinstance(value, (list, tuple)):
        if is_secret:
            return str(len(value)) if value else ""
        return ", ".join(shown(each, False) for each in value)
    text = reveal(value)
    if is_secret:
        return _address(str(text or ""))
    if text is None:
        return ""
    if isinstance(text, bool):
        return "true" if text else "false"
    if isinstance(text, Mapping):
        pairs = ((str(name), each) for name, each in text.items())
        return ", ".join(f"{name}: {shown(each, _is_secret(name, each))}" for name, each in pairs)
    if isinstance(text, BaseModel):
        return type(text).__name__
    return _PASSWORD_IN_URL.sub("•••@", str(text))


def _address(secret: str) -> str:
    """Return a URL without its credentials, and other secrets as dots."""
    scheme, is_url, rest = secret.partition("://")
    if not is_url:
        return "•••" if secret else ""
    login, at, place = rest.rpartition("@")
    # After an @ in the query, no part is certain to be public.
    place = "" if "?" in login else re.split("[?#]", place)[0]
    return f"{scheme}://{'•••' if at else ''}{at}{place}"


def _is_secret(name: str, value: object) -> bool:
    values = value if isinstance(value, (list, tuple)) else [value]
    return bool(_HIDDEN.search(name)) or any(isinstance(each, SecretStr) for each in values)
