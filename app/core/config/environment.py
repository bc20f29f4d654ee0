"""Loads settings from the environment and `.env`; errors name the invalid variables."""

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from dotenv import dotenv_values
from dotenv.parser import parse_stream
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings
from pydantic_settings import SettingsError as PydanticSettingsError

from .removed_settings import REMOVED_SETTINGS

Loaded = TypeVar("Loaded", bound=BaseSettings)


# The similarity above which an unknown name is a misspelled setting, not another program's name.
MISSPELT = 0.84


class SettingsError(Exception):
    """A setting is invalid. The message names the variable, and never its value."""


def load(kind: type[Loaded], prefix: str = "") -> Loaded:
    """Read settings from the environment, or raise an error that names the invalid variables."""
    given = variables(kind)
    try:
        return kind(_env_prefix=prefix)
    except ValidationError as error:
        raise wrong_settings(error, kind, prefix) from None
    except PydanticSettingsError as error:
        # The error names only the field, and its cause has the value, which may be a secret.
        text = getattr(error.__cause__, "doc", None)
        names = [
            name
            for name in sorted(given)
            if name.startswith(prefix)
            and given[name] == text
            and f'"{name.removeprefix(prefix).partition("__")[0]}"' in str(error)
        ]
        reason = f'{", ".join(names)}: must be JSON, such as ["one", "two"]'
        raise SettingsError(f"Invalid settings: {reason if names else error}") from None


def variables(kind: type[BaseSettings]) -> dict[str, str | None]:
    """Return all variables that `load` reads, including those of other programs."""
    return {**_read_dotenv(kind), **os.environ}


def dotenv_names(kind: type[BaseSettings]) -> set[str]:
    """Return the names of the variables that have their value from `.env`."""
    read = _read_dotenv(kind)
    # `flask` copies the file to the environment, without replacing variables.
    copied = read if os.environ.get("FLASK_RUN_FROM_CLI") == "true" else {}
    return {name for name in read if name not in os.environ or os.environ[name] == copied.get(name)}


def wrong_settings(
    error: ValidationError, kind: type[BaseModel] | None = None, prefix: str = ""
) -> SettingsError:
    """Return an error that names all invalid settings in one sentence."""
    faults = []
    for fault in error.errors(include_input=False, include_url=False):
        path = [str(part) for part in fault["loc"]]
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            message = f"unknown setting{_suggestion(kind, path, prefix)}"
        faults.append(f"{prefix}{'__'.join(path)}: {message}")
    return SettingsError(f"Invalid settings: {'; '.join(faults)}")


def closest(name: str, known: Iterable[str], *, similarity: float = 0.7) -> str | None:
    """Return the most similar known name, or None if no name is similar."""
    found = get_close_matches(name.upper(), known, n=1, cutoff=similarity)
    return found[0] if found else None


def _suggestion(kind: type[BaseModel] | None, path: Sequence[str], prefix: str) -> str:
    for part in path[:-1]:
        kind = namespace_class(kind.model_fields[part]) if kind is not None else None
    name = closest(path[-1], kind.model_fields) if kind is not None else None
    return f", did you mean {prefix}{'__'.join([*path[:-1], name])}?" if name else ""


def namespace_class(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def is_foreign(name: str, value: str | None, namespaces: Mapping[str, type[BaseModel]]) -> bool:
    """Return whether a variable that begins with a namespace belongs to the application.

    An application may have its own `AUTH__DIRECTORY`. A name that is similar to a setting is a
    misspelled setting, and one of an earlier version is a removed setting.
    """
    namespace, nested, field = name.partition("__")
    if namespace not in namespaces:
        return False
    if not nested:
        return not (value or "").lstrip().startswith("{")
    fields = namespaces[namespace].model_fields
    field = field.partition("__")[0]
    if f"{namespace}__{field}" in REMOVED_SETTINGS:
        return False
    return field not in fields and closest(field, fields, similarity=MISSPELT) is None


def _read_dotenv(kind: type[BaseSettings]) -> dict[str, str | None]:
    """Return the variables of `.env`; raise for an invalid line, which the parser would ignore."""
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
