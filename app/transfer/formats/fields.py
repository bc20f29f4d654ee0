"""One field of a row as what it is meant to be, or a sentence that names the field."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson

from ...core.types import JsonObject, Values
from ..account import ImportedIdentity, RowFault

_TRUE, _FALSE = {"true", "t", "1", "yes"}, {"false", "f", "0", "no"}


def text(row: Values, name: str) -> str | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _wrong(name, "a text")
    return value


def needed(row: Values, name: str) -> str:
    value = text(row, name)
    if value is None:
        raise RowFault("missing_field", f"There is no {name!r}.")
    return value


def flag(row: Values, name: str, default: bool) -> bool:
    value = row.get(name)
    if value is None or value == "":
        return default
    word = str(value).lower()
    if word not in _TRUE | _FALSE:
        raise _wrong(name, "true or false")
    return word in _TRUE


def moment(row: Values, name: str) -> datetime | None:
    """ISO 8601, as databases write it too; without an offset it is taken for UTC."""
    value = text(row, name)
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _wrong(name, "a moment such as 2030-12-31T12:00:00Z") from None


def from_milliseconds(row: Values, name: str) -> datetime | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    try:
        return datetime.fromtimestamp(int(value) / 1000, UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        raise _wrong(name, "a number of milliseconds") from None


def objects(row: Values, name: str) -> list[Values]:
    """A list of objects, in CSV as JSON."""
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
    """A list of words: as JSON, or with commas between."""
    value = row.get(name)
    if isinstance(value, str):
        value = _parsed(row, name) if value.startswith("[") else value.split(",")
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(name, "a list of words")
    # Some write each as an object with a name.
    found = [item.get("name") if isinstance(item, dict) else item for item in value]
    return [item.strip().lower() for item in found if isinstance(item, str) and item.strip()]


def _parsed(row: Values, name: str) -> Any:
    value = row.get(name)
    if value == "":
        return None
    if isinstance(value, str):
        try:
            return orjson.loads(value)
        except ValueError:
            raise _wrong(name, "JSON") from None
    return value


def _wrong(name: str, kind: str) -> RowFault:
    return RowFault("wrong_field", f"{name!r} is not {kind}.")


# Other providers, such as Apple, give each client another subject for one person: accounts there
# are linked again at the next sign-in.
GOOGLE = "https://accounts.google.com"
_ISSUERS = {"google": GOOGLE, "google.com": GOOGLE, "google-oauth2": GOOGLE}


def identity(provider: object, subject: object) -> list[ImportedIdentity]:
    """One, or none where the provider is not known here."""
    issuer = _ISSUERS.get(str(provider))
    if issuer is None or not isinstance(subject, str) or not subject:
        return []
    return [ImportedIdentity(issuer, subject)]
