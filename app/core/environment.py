"""Reading settings from the environment and `.env`, with one sentence for what is wrong there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_origin

from dotenv import dotenv_values
from dotenv.parser import parse_stream
from pydantic import BaseModel, ValidationError
from pydantic_settings import BaseSettings
from pydantic_settings import SettingsError as PydanticSettingsError

Loaded = TypeVar("Loaded", bound=BaseSettings)


class SettingsError(Exception):
    """A sentence for the operator, naming the variable and never its value."""


def load(kind: type[Loaded]) -> Loaded:
    """Read settings from the environment, or say in one sentence which variable is wrong."""
    dotenv = _dotenv(kind)
    try:
        return kind()
    except ValidationError as error:
        raise wrong_settings(error) from None
    except PydanticSettingsError as error:
        # It names the namespace at best; its cause holds the value, which may be a secret.
        names = ", ".join(_not_json(kind, {**dotenv, **os.environ}))
        reason = f'{names}: must be JSON, such as ["one", "two"]' if names else str(error)
        raise SettingsError(f"Wrong settings: {reason}") from None


def wrong_settings(error: ValidationError) -> SettingsError:
    faults = "; ".join(
        f"{'__'.join(str(part) for part in fault['loc'])}: {_plain(fault['msg'])}"
        for fault in error.errors(include_input=False, include_url=False)
    )
    return SettingsError(f"Wrong settings: {faults}")


def _plain(message: str) -> str:
    message = message.removeprefix("Value error, ")
    return {"Extra inputs are not permitted": "there is no such setting"}.get(message, message)


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
