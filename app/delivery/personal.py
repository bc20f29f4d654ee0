"""Personal fields in a message: `{{ first_name|there }}` becomes the recipient's first name.

The text after the bar is used for recipients whose field is empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from markupsafe import escape

from ..core.types import AccountKey, JsonObject, Values
from .message import Email, NewMessage, StoredMessage

# The fields, as the documentation lists them.
FIELDS = ("first_name", "last_name", "name", "email")
EXAMPLE = "{{ first_name|there }}"
_BEGIN = "{{"
_FIELD = re.compile(r"\{\{\s*(\w+)\s*(?:\|([^{}|]*))?\}\}")

# One character for each field of a message, so that no template cuts a field in two.
_FIRST, _LAST = "\U000f0000", "\U000f0fff"
_MARK = re.compile(f"[{_FIRST}-{_LAST}]")

FieldValues = Mapping[str, str]


class FieldReader(Protocol):
    def read(self, ids: Collection[AccountKey]) -> Mapping[AccountKey, FieldValues]:
        """Return the values of all fields by the ids of accounts, read by one query."""


def may_have_fields(text: str) -> bool:
    return _BEGIN in text


def unknown_fields(text: str) -> Iterator[str]:
    """Yield the name of each field that does not exist, and an empty name for a broken one."""
    names = [found[1] for found in _FIELD.finditer(text)]
    yield from (name for name in names if name not in FIELDS)
    if text.count(_BEGIN) > len(names):
        yield ""


def fill(text: str, values: FieldValues) -> str:
    """Replace the fields of a text."""
    return _FIELD.sub(lambda found: values.get(found[1], "") or (found[2] or "").strip(), text)


def fill_row(row: JsonObject, values: FieldValues) -> None:
    """Replace the fields of a title and a message."""
    row["title"], row["message"] = fill(row["title"], values), fill(row["message"], values)


def fill_rows(
    rows: Iterator[Values], fields: FieldReader | None, account_id: AccountKey
) -> Iterator[Values]:
    """Yield the rows without `is_personal`, and those that are personal with the current values of
    the account."""
    values = fields.read([account_id]).get(account_id, {}) if fields else {}
    for row in rows:
        item = dict(row)
        if item.pop("is_personal"):
            fill_row(item, values)
        yield item


def personalized(message: StoredMessage) -> StoredMessage:
    """Return the message with the recipient's values in place of its fields."""
    if not message.is_personal:
        return message
    title, text = (fill(each, message.values) for each in (message.title, message.message))
    return replace(message, title=title, message=text)


class MarkedMessage:
    """A message with marks for its fields, which is rendered once for all recipients."""

    def __init__(self, message: NewMessage) -> None:
        self._fields: list[tuple[str, str]] = []
        self.title = self._mark(message.title)
        self.message = self._mark(message.message)

    def fill(self, email: Email, values: FieldValues) -> Email:
        """Replace the marks. A value is escaped in HTML and never becomes a link."""
        return replace(
            email,
            subject=self._fill(email.subject, values, str),
            text=self._fill(email.text, values, str),
            html=self._fill(email.html, values, lambda value: str(escape(value))),
        )

    def _mark(self, text: str) -> str:
        return _FIELD.sub(self._add, _MARK.sub("", text))

    def _add(self, found: re.Match[str]) -> str:
        if len(self._fields) > ord(_LAST) - ord(_FIRST):
            return ""
        self._fields.append((found[1], (found[2] or "").strip()))
        return chr(ord(_FIRST) + len(self._fields) - 1)

    def _fill(self, text: str, values: FieldValues, write: Callable[[str], str]) -> str:
        def value_of(found: re.Match[str]) -> str:
            name, default = self._fields[ord(found[0]) - ord(_FIRST)]
            return write(values.get(name, "") or default)

        return _MARK.sub(value_of, text)
