"""`make settings`: writes docs/settings.md from the settings' own classes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from app.delivery.settings import DeliveryVariables
from config import Settings

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"

_HEAD = """\
# Settings

Generated from the code by `make settings`. Each is read from the environment, or from `.env` beside
`wsgi.py`. Lists and mappings are JSON: `CORE__CORS_ORIGINS=["https://app.example.com"]`. A wrong
value, or an unknown name in one of the namespaces (`CORE__`, `AUTH__` and those below), stops the
start with a sentence that names the variable.

A host application that subclasses the settings classes, instead of composing them as fields, reads
the same names without their prefix: `PROJECT_NAME` for `CORE__PROJECT_NAME`, and so `ENABLED` for
`TASKS__ENABLED`. `BRAND` is one field in both.
"""


def page() -> str:
    return "\n".join([_HEAD, *_sections(), ""])


def _sections() -> Iterator[str]:
    fields = Settings.model_fields
    spaces = {name: space for name, field in fields.items() if (space := _namespace(field))}
    # The key first, and mail last: `sorted` keeps the order within each.
    plain = sorted(fields.keys() - spaces, key=list(fields).index)
    plain.sort(key=lambda name: name in DeliveryVariables.model_fields)
    yield from _table("Top level", {name: fields[name] for name in plain})
    for name, space in spaces.items():
        under = {f"{name}__{inner}": field for inner, field in space.model_fields.items()}
        yield from _table(f"{name}", under)


def _table(title: str, fields: dict[str, FieldInfo]) -> Iterator[str]:
    yield f"## {title}\n"
    yield "| variable | kind | default | what it does |"
    yield "|---|---|---|---|"
    for name, field in fields.items():
        about = field.description or ""
        yield f"| `{name}` | {_kind(field.annotation)} | {_default(field.default)} | {about} |"
    yield ""


def _namespace(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) in (list, dict):
        return "list" if get_origin(annotation) is list else "mapping"
    # `Annotated[int, …]`, and `int | None`, are of the kind of their first part.
    if inner := get_args(annotation):
        return _kind(inner[0])
    names = {int: "whole number", bool: "`true` or `false`", SecretStr: "secret"}
    return names.get(annotation, "text")


def _default(value: Any) -> str:
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value == "":
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


if __name__ == "__main__":
    PAGE.write_text(page())
