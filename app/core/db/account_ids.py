"""The kinds of ids that an application's accounts can have: integers, UUIDs and strings.

In JSON an integer is a number, and every other id is a string.
"""

import re
import uuid
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from flask import current_app, has_app_context
from sqlalchemy import BigInteger, Integer, SmallInteger, String, Uuid
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from ..types import AccountKey, Values

MAX_ID = 2**63 - 1

# SQLite generates ids only in a column declared INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")

# For string ids in a column without a length.
MAX_STRING_LENGTH = 255
_HEX = "[0-9a-fA-F]"
UUID_PATTERN = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"


# Each kind has a pattern and an OpenAPI schema for paths, `from_path`, which raises ValueError for
# an id that no account can have, and `from_text`, which reads an id that Frontdesk has written.


@dataclass(frozen=True)
class IntegerIds:
    type: TypeEngine[Any]
    max: int
    pattern: ClassVar[str] = "-?[0-9]+"
    path_schema: ClassVar[Values] = {"type": "integer", "minimum": 1}

    def from_path(self, text: str) -> int:
        """Limit an id that no row can have, so that the lookup responds with the resource's 404."""
        return max(0, min(int(text[:20]), self.max))

    def from_text(self, text: Any) -> int:
        return int(text)


@dataclass(frozen=True)
class UuidIds:
    type: TypeEngine[Any]
    # Whether the model's attribute is a string.
    as_text: bool
    pattern: ClassVar[str] = UUID_PATTERN
    path_schema: ClassVar[Values] = {"type": "string", "format": "uuid"}

    def from_path(self, text: str) -> AccountKey:
        if not re.fullmatch(UUID_PATTERN, text):
            raise ValueError("not a UUID")
        return self.from_text(text)

    def from_text(self, text: object) -> AccountKey:
        found = uuid.UUID(str(text))
        return str(found) if self.as_text else found


@dataclass(frozen=True)
class StringIds:
    type: TypeEngine[Any]
    max_length: int
    pattern: ClassVar[str] = "[^/]+"
    path_schema: ClassVar[Values] = {"type": "string"}

    def from_path(self, text: str) -> str:
        if len(text) > self.max_length or "\x00" in text or not text.isprintable():
            raise ValueError("not an id of an account")
        return text

    def from_text(self, text: object) -> str:
        return str(text)


IdKind = IntegerIds | UuidIds | StringIds
INTEGER_IDS = IntegerIds(Id, MAX_ID)


def id_kind_of(type_: TypeEngine[Any]) -> IdKind | None:
    """Return the kind of id for the column's Python type, or None for an unsupported type."""
    if isinstance(type_, Uuid):
        return UuidIds(type_, as_text=not type_.as_uuid)
    try:
        python = type_.python_type
    except NotImplementedError:
        return None
    if issubclass(python, uuid.UUID):
        return UuidIds(type_, as_text=False)
    if issubclass(python, int):
        return IntegerIds(type_, _max_id(type_))
    if issubclass(python, str):
        return StringIds(type_, getattr(type_, "length", None) or MAX_STRING_LENGTH)
    return None


def _max_id(type_: TypeEngine[Any]) -> int:
    match type_:
        case BigInteger():
            return MAX_ID
        case SmallInteger():
            return 2**15 - 1
        case Integer():
            return 2**31 - 1
    return MAX_ID


def serialize_id(account_id: object) -> Any:
    """Return the id for a JSON response or a file."""
    return account_id if account_id is None or isinstance(account_id, int) else str(account_id)


# The kind of account ids by dialect: a dialect belongs to one engine, and so to one application.
_KINDS: WeakKeyDictionary[Dialect, IdKind] = WeakKeyDictionary()


def set_id_kind(dialect: Dialect, kind: IdKind) -> None:
    _KINDS[dialect] = kind


def id_kind_for(dialect: Dialect) -> IdKind:
    """Return the kind of ids; an engine that a test has swapped in has its application's kind."""
    known = _KINDS.get(dialect)
    if known is None and has_app_context():
        known = getattr(current_app.extensions.get("frontdesk"), "account_ids", None)
    return known or INTEGER_IDS


class AccountIdType(TypeDecorator[Any]):
    """The type of account ids in Frontdesk's models, which are mapped once for all applications."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return id_kind_for(dialect).type


class ReceiverId(AccountIdType):
    """A recipient is not always an account: unless account ids are integers, it is a string."""

    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return receiver_type(id_kind_for(dialect))


def receiver_type(kind: IdKind) -> TypeEngine[Any]:
    return kind.type if isinstance(kind, IntegerIds) else String(MAX_STRING_LENGTH)
