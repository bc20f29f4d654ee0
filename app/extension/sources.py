"""Where a host's settings are said, and which place counts: who runs it has the last word.

0. Of mail alone: `app.config["MAIL_SERVER"]` and the others, which Flask-Mail reads too.
1. Variables with our name in front, `FRONTDESK_AUTH__LOGIN_LIMIT`, of the environment or `.env`.
2. `app.config["FRONTDESK"]`, a mapping, which `app.config.from_prefixed_env()` fills as well.
3. The settings object that `init_app` was given; where it was given none, the service's own
   variables, `AUTH__LOGIN_LIMIT`.
4. The defaults.

The names in the first two are ours alone, so that one that we do not know is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from flask import Flask
from pydantic import ValidationError

from ..core.config.environment import MISSPELT, SettingsError, load, near, variables, wrong_settings
from ..core.config.settings import Kind, Namespace, Namespaces, reveal
from ..delivery.mail.brand import BrandSettings
from .settings import NAMESPACES, SPACES, ComposedSettings, namespaces

CONFIG = "FRONTDESK"
PREFIX = "FRONTDESK_"
TOP_LEVEL = tuple(name for name in ComposedSettings.model_fields if name not in SPACES)
# Every variable `FRONTDESK_MAIL_…` is meant for us, however it goes on.
FAMILIES = ("MAIL_", "SMS_", "IDP_")
OF_FLASK_MAIL = ("MAIL_ASCII_ATTACHMENTS", "MAIL_DEBUG", "MAIL_MAX_EMAILS")

# By name: a namespace in which only some fields are set, or the value of a plain name.
Said = dict[str, Any]


def host_settings(app: Flask, given: object | None) -> Namespaces:
    chosen = namespaces(load(ComposedSettings) if given is None else given)
    for said in (_in_config(app.config.get(CONFIG)), _in_environment()):
        if said:
            chosen = _changed(chosen, said)
    return chosen


def _in_config(given: object) -> Said:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SettingsError(
            f'app.config["{CONFIG}"] is a mapping of mappings,'
            ' such as {"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": 60}}.'
        )
    said: Said = {}
    for name, value in given.items():
        if name in TOP_LEVEL:
            said[name] = value
        elif name not in SPACES:
            raise SettingsError(_unknown(str(name)))
        else:
            said[name] = value if type(value) is SPACES[name] else _space(name, value)
    if provider := {name: said.pop(name) for name in list(said) if name.startswith("IDP_")}:
        auth = said.get("AUTH", SPACES["AUTH"]())
        said["AUTH"] = _space("AUTH", {**provider, **auth.model_dump(exclude_unset=True)})
    return said


def _space(name: str, value: object) -> Namespace:
    try:
        return SPACES[name].model_validate(value)
    except ValidationError as error:
        wrong = str(wrong_settings(error, SPACES[name], f"{name}__"))
        raise SettingsError(f'{wrong}, in app.config["{CONFIG}"]') from None


def _unknown(name: str) -> str:
    """The likeliest: a setting written without its namespace, or as in the environment."""
    space, _, field = name.rpartition("__")
    within = next(
        (each for each in SPACES if field in SPACES[each].model_fields and space in ("", each)),
        None,
    )
    meant = near(name, (*SPACES, *TOP_LEVEL))
    if within is not None:
        hint = f' It is written {{"{within}": {{"{field}": …}}}}.'
    else:
        hint = f' Do you mean "{meant}"?' if meant else ""
    return f'app.config["{CONFIG}"] has no setting "{name}".{hint}'


def _in_environment() -> Said:
    given = variables(ComposedSettings)
    ours = {name.removeprefix(PREFIX) for name in given if name.startswith(PREFIX)}
    if not ours:
        return {}
    for name in sorted(ours):
        _check_variable(name)
    loaded = load(_partly(), PREFIX)
    return {name: getattr(loaded, name) for name in loaded.model_fields_set}


@cache
def _partly() -> type[ComposedSettings]:
    """Made where it is needed: what is not said is not filled in, and other places may say it."""

    class Partly(ComposedSettings):
        FILLS_IN: ClassVar[bool] = False

    return Partly


def _check_variable(name: str) -> None:
    """Plain names that we do not know are others' (`FRONTDESK_HOME`); fields of ours are not."""
    space, nested, field = name.partition("__")
    known = SPACES if nested else (*SPACES, *TOP_LEVEL)
    if space in known:
        return
    if nested or space.startswith(FAMILIES) or near(space, known, likeness=MISSPELT):
        better = near(space, known)
        meant = f", do you mean {PREFIX}{better}{nested}{field}?" if better else ""
        raise SettingsError(f"Wrong settings: {PREFIX}{name}: there is no such setting{meant}")


def unread_names(app: Flask, *, is_service: bool) -> Iterator[str]:
    """Names that are set and that nothing reads, each in a sentence with the name to use."""
    given = variables(ComposedSettings)
    yield from _misspelt(sorted({*given, *map(str, app.config)}))
    prefixed = sorted(name for name in given if name.startswith(PREFIX))
    if is_service:
        for name in prefixed:
            plain = name.removeprefix(PREFIX)
            if plain in TOP_LEVEL or plain.partition("__")[0] in SPACES:
                yield f"{name} is not read by the service: write {plain}"
        return
    ours = app.config.get(CONFIG) or {}
    for name in TOP_LEVEL:
        if not name.startswith("MAIL_") or name not in app.config:
            continue
        places = {
            PREFIX + name: given.get(PREFIX + name),
            f'app.config["{CONFIG}"]["{name}"]': ours.get(name),
        }
        for where, value in places.items():
            if value is not None and _text(value) != _text(app.config[name]):
                yield f'{where} is not read, because app.config["{name}"] is set: remove one'


def _misspelt(names: Iterable[str]) -> Iterator[str]:
    known = (*TOP_LEVEL, *OF_FLASK_MAIL)
    for name in names:
        is_unknown = name.startswith(FAMILIES) and name not in known
        if is_unknown and (better := near(name, TOP_LEVEL, likeness=MISSPELT)):
            yield f"{name}: there is no such setting, do you mean {better}?"


def _text(value: object) -> str:
    """A variable is text, and Flask's configuration has numbers and booleans."""
    return str(reveal(value)).lower()


def _changed(settings: Namespaces, said: Said) -> Namespaces:
    core = _with(settings.core, "CORE", said)
    key = reveal(said.get("SECRET_KEY")) or ("CORE" in said and reveal(said["CORE"].SECRET_KEY))
    if "BRAND" in said:
        said = {**said, "BRAND": _brand(getattr(settings.source, "BRAND", None), said["BRAND"])}
    names = {kind: name for name, kind in NAMESPACES.items()}
    return replace(
        settings,
        core=core,
        all=[_with(each, names[type(each)], said) for each in settings.all],
        secret_key=str(key) if key else settings.secret_key,
        secret_key_is_set=bool(key) or settings.secret_key_is_set,
        source=_Either(SimpleNamespace(**said), settings.source),
    )


def _with(settings: Kind, name: str, said: Said) -> Kind:
    update = {
        field: value
        for field, value in said.items()
        if field.startswith("IDP_") and field in type(settings).model_fields
    }
    if name in said:
        update |= {field: getattr(said[name], field) for field in said[name].model_fields_set}
    return settings.model_copy(update=update)


def _brand(given: object, said: Namespace) -> BrandSettings:
    brand = given if isinstance(given, BrandSettings) else _space("BRAND", given or {})
    return _with(cast(BrandSettings, brand), "BRAND", {"BRAND": said})


class _Either:
    """Two as one, for plain names: the first that has one counts."""

    def __init__(self, first: object, second: object) -> None:
        self.below = second
        self._both = (first, second)

    def __getattr__(self, name: str) -> Any:
        for each in self._both:
            if hasattr(each, name):
                return getattr(each, name)
        raise AttributeError(name)


def said_for(source: object) -> object:
    """The settings object below what the environment and the configuration have said beside it."""
    while isinstance(source, _Either):
        source = source.below
    return source
