"""Reading settings from the environment and `.env`, with one sentence for what is wrong there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_origin

from dotenv import dotenv_values
from dotenv.parser import parse_stream
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings
from pydantic_settings import SettingsError as PydanticSettingsError

Loaded = TypeVar("Loaded", bound=BaseSettings)


# A letter or two apart: less alike, a name is likelier somebody else's.
MISSPELT = 0.84


class SettingsError(Exception):
    """A sentence for the operator, naming the variable and never its value."""


def load(kind: type[Loaded], prefix: str = "") -> Loaded:
    """Read settings from the environment, or say in one sentence which variable is wrong."""
    dotenv = _dotenv(kind)
    try:
        return kind(_env_prefix=prefix)
    except ValidationError as error:
        raise wrong_settings(error, kind, prefix) from None
    except PydanticSettingsError as error:
        # It names the namespace at best; its cause holds the value, which may be a secret.
        given = {
            name.removeprefix(prefix): value
            for name, value in {**dotenv, **os.environ}.items()
            if name.startswith(prefix)
        }
        names = ", ".join(prefix + name for name in _not_json(kind, given))
        reason = f'{names}: must be JSON, such as ["one", "two"]' if names else str(error)
        raise SettingsError(f"Wrong settings: {reason}") from None


def variables(kind: type[BaseSettings]) -> dict[str, str | None]:
    """All that there are, ours and others', as `load` reads them."""
    return {**_dotenv(kind), **os.environ}


def wrong_settings(
    error: ValidationError, kind: type[BaseModel] | None = None, prefix: str = ""
) -> SettingsError:
    faults = []
    for fault in error.errors(include_input=False, include_url=False):
        where = [str(part) for part in fault["loc"]]
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            message = f"there is no such setting{_meant(kind, where, prefix)}"
        faults.append(f"{prefix}{'__'.join(where)}: {message}")
    return SettingsError(f"Wrong settings: {'; '.join(faults)}")


def near(name: str, known: Iterable[str], *, likeness: float = 0.7) -> str | None:
    """The one that whoever wrote a name has likely meant."""
    found = get_close_matches(name.upper(), known, n=1, cutoff=likeness)
    return found[0] if found else None


def _meant(kind: type[BaseModel] | None, where: Sequence[str], prefix: str) -> str:
    for part in where[:-1]:
        kind = space_of(kind.model_fields[part]) if kind is not None else None
    name = near(where[-1], kind.model_fields) if kind is not None else None
    return f", do you mean {prefix}{'__'.join([*where[:-1], name])}?" if name else ""


def space_of(field: FieldInfo) -> type[BaseModel] | None:
    """The class of a field that is a namespace."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def is_anothers(name: str, value: str | None, spaces: Mapping[str, type[BaseModel]]) -> bool:
    """Whether a variable only begins as one of ours does: an application that we are a guest of has
    variables too, and may well have an `AUTH__PROVIDER`. One that is nearly ours is misspelt."""
    space, nested, field = name.partition("__")
    if space not in spaces:
        return False
    if not nested:
        return not (value or "").lstrip().startswith("{")
    fields = spaces[space].model_fields
    field = field.partition("__")[0]
    return field not in fields and near(field, fields, likeness=MISSPELT) is None


def _dotenv(kind: type[BaseSettings]) -> dict[str, str | None]:
    """What `.env` says, once it is known to be readable: the parser itself passes over faults."""
    name = kind.model_config.get("env_file")
    if not isinstance(name, (str, Path)) or not Path(name).exists():
        return {}
    try:
        with Path(name).open(encoding="utf-8") as file:
            wrong = [
                line.original.line
                for line in parse_stream(file)
                if line.error or (line.key is not None and line.value is None)
            ]
    except UnicodeDecodeError:
        raise SettingsError(f"{name} is not a text file in UTF-8.") from None
    except OSError as error:
        raise SettingsError(f"{name} cannot be read: {error.strerror}.") from None
    if wrong:
        raise SettingsError(f"{name}, line {wrong[0]}: expected NAME=value.")
    return dotenv_values(name)


def _not_json(kind: type[BaseModel], given: Mapping[str, str | None]) -> Iterator[str]:
    """The variables that should hold JSON, for a list or a whole namespace, and do not."""
    for name, field in kind.model_fields.items():
        inner: Any = field.annotation
        is_namespace = isinstance(inner, type) and issubclass(inner, BaseModel)
        if (is_namespace or get_origin(inner) is list) and not _is_json(given.get(name)):
            yield name
        if is_namespace:
            under = f"{name}__"
            own = {key.removeprefix(under): given[key] for key in given if key.startswith(under)}
            yield from (under + wrong for wrong in _not_json(inner, own))


def _is_json(text: str | None) -> bool:
    try:
        json.loads(text or "null")
    except ValueError:
        return False
    return True
