"""Reads typed fields of a row, or raises a RowError that names the field."""

from datetime import UTC, datetime

import orjson

from ...core.types import JsonObject, Values
from ..account import RowError

_TRUE, _FALSE = {"true", "t", "1", "yes"}, {"false", "f", "0", "no"}


def text(row: Values, name: str) -> str | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _wrong(name, "a string")
    return value


def required(row: Values, name: str) -> str:
    value = text(row, name)
    if value is None:
        raise RowError("missing_field", f"There is no {name!r}.")
    return value


def flag(row: Values, name: str, default: bool) -> bool:
    value = row.get(name)
    if value is None or value == "":
        return default
    word = str(value).lower()
    if word not in _TRUE | _FALSE:
        raise _wrong(name, "true or false")
    return word in _TRUE


def timestamp(row: Values, name: str) -> datetime | None:
    """Read ISO 8601, also as databases write it; a time without an offset is UTC."""
    value = text(row, name)
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _wrong(name, "a time such as 2030-12-31T12:00:00Z") from None


def objects(row: Values, name: str) -> list[Values]:
    """Read a list of objects, which is JSON in CSV."""
    value = _parsed(row, name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _wrong(name, "a list of objects")
    return value


def mapping(row: Values, name: str) -> JsonObject | None:
    value = _parsed(row, name)
    if value is not None and not isinstance(value, dict):
        raise _wrong(name, "an object")
    return value


def words(row: Values, name: str) -> list[str]:
    """Read a list of words, as JSON or separated by commas."""
    value = row.get(name)
    if isinstance(value, str):
        value = _parsed(row, name) if value.startswith("[") else value.split(",")
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(name, "a list of words")
    # The query of an export may join objects with a name instead of words.
    names = [item.get("name") if isinstance(item, dict) else item for item in value]
    return [name.strip().lower() for name in names if isinstance(name, str) and name.strip()]


def _parsed(row: Values, name: str) -> object:
    value = row.get(name)
    if value == "":
        return None
    if isinstance(value, str):
        try:
            return orjson.loads(value)
        except ValueError:
            raise _wrong(name, "JSON") from None
    return value


def _wrong(name: str, kind: str) -> RowError:
    return RowError("wrong_field", f"{name!r} is not {kind}.")
