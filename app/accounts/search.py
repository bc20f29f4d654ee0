"""Finds accounts by email address, name, phone number and id.

A part of an address, name or phone number is found if a trigram index serves the search
(search_indexes.py), or if there are few accounts. Otherwise only the start is found, along the
other indexes. Texts of one or two characters always find starts.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, NamedTuple

from sqlalchemy import (
    CTE,
    ColumnElement,
    Select,
    SelectBase,
    and_,
    collate,
    exists,
    func,
    literal_column,
    or_,
    select,
    true,
    union,
    union_all,
)

from ..core.db.account_ids import IdKind
from ..core.db.id_lists import id_list
from ..core.db.search_indexes import SearchedNames, has_trigram_index
from ..core.db.transaction import AnySession
from ..core.types import AccountModel
from .addresses import fold, read_phone
from .errors import InvalidPhone
from .models import AccountLike

# Matches are counted up to this number, and those of one or two characters up to a smaller one.
MAX_COUNT = 10_000
MAX_SHORT_COUNT = 1_000
# Up to this number of accounts, a part is found without an index: both tables are read whole.
MAX_SCANNED = 20_000
# A trigram index does not find shorter texts within a word.
MIN_PART = 3
# The end of a range of texts with the same start: none has the last Unicode character.
_END = "\U0010ffff"
_PHONE = re.compile(r"[+0-9 ()./-]+", re.ASCII)
_LONGEST_PHONE = "9" * 15


class _Arm(NamedTuple):
    """A condition on the columns of one table, which indexes serve."""

    account_id: Any
    condition: ColumnElement[bool]


@dataclass(frozen=True, eq=False)
class Matches:
    """The accounts that a search finds."""

    session: AnySession
    model: AccountModel
    arms: Sequence[_Arm]
    # Matches are counted up to this number.
    most: int
    # The only match, if it is known.
    only: Any = None

    def ids(self, *conditions: ColumnElement[bool]) -> Collection[Any]:
        """Return the ids of `found`."""
        if self.only is not None and not conditions:
            return [self.only]
        return self.session.scalars(select(self.found(*conditions).c.id)).all()

    def ids_among(self, others: Select[Any]) -> Collection[Any] | None:
        """Return the matches that are among other ids, or None if there are more than `most`.

        The other ids are no condition of `found`, because the database would read accounts in the
        order of the other ids, without the indexes of the search.
        """
        found = self.found()
        ids = select(found.c.id).where(found.c.id.in_(others))
        total, among = read_counted(self.session, count_rows(found), ids)
        return among if total <= self.most else None

    def found(self, *conditions: ColumnElement[bool]) -> CTE:
        """Select the ids of the accounts that also meet conditions on their own columns: all, or
        more than `most` of them if there are more."""
        found: list[CTE] = []
        for number, arm in enumerate(self.arms):
            # No more matches are read if there are too many.
            numbers = (select(func.count()).select_from(each) for each in found)
            few = (each.scalar_subquery() <= self.most for each in numbers)
            ids = self._ids(arm, conditions).where(*few).limit(self.most + 1)
            found.append(ids.cte(f"found_{number}"))
        return union(*(select(each.c[0].label("id")) for each in found)).cte("found")

    def count(self, *conditions: ColumnElement[bool]) -> int:
        """Return the number of `found`."""
        found = select(func.count()).select_from(self.found(*conditions))
        return self.session.scalar(found) or 0

    def among(self, ids: Collection[Any], column: Any = None) -> ColumnElement[bool]:
        """Return the condition that an account, or another column, has one of the ids."""
        listed = id_list([*ids], self.model.id.type, self.session.get_bind().dialect)
        found: ColumnElement[bool] = (self.model.id if column is None else column).in_(
            select(listed)
        )
        return found

    def in_index(self, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
        """Return the condition that an account is found, to read all matches by their indexes."""
        found: ColumnElement[bool] = self.model.id.in_(
            union_all(*(self._ids(arm, conditions) for arm in self.arms))
        )
        return found

    def of_row(self) -> ColumnElement[bool]:
        """Return the condition that an account is found, to check row after row."""
        return or_(*(self._of_row(arm) for arm in self.arms))

    def _ids(self, arm: _Arm, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
        ids = select(arm.account_id).where(arm.condition, *conditions)
        if conditions and not self._is_own(arm):
            return ids.join(self.model, self.model.id == arm.account_id)
        return ids

    def _of_row(self, arm: _Arm) -> ColumnElement[bool]:
        if self._is_own(arm):
            return arm.condition
        return exists().where(arm.account_id == self.model.id, arm.condition)

    def _is_own(self, arm: _Arm) -> bool:
        return arm.account_id is self.model.id


def count_rows(found: CTE) -> CTE:
    return select(func.count().label("total")).select_from(found).cte("counted")


def read_counted(session: AnySession, counted: CTE, ids: SelectBase) -> tuple[int, Collection[Any]]:
    """Return the total of `count_rows`, and the ids, in one statement."""
    listed = ids.subquery()
    query = select(counted.c.total, listed.c[0].label("id")).join(listed, true(), isouter=True)
    rows = session.execute(query).all()
    return rows[0].total, [row.id for row in rows if row.id is not None]


class NameSource(NamedTuple):
    """A table with the names of accounts."""

    # Called with the viewer, or with None to search all names. Returns None if the application
    # does not have the table.
    find: Callable[[AccountLike | None], SearchedNames | None]


@dataclass(eq=False)
class AccountFinder:
    """Turns a search into conditions that indexes serve."""

    session: AnySession
    model: AccountModel
    id_kind: IdKind
    names: Sequence[NameSource]
    _has_index: bool = field(default=False, init=False)

    def find(
        self,
        search: str,
        *conditions: ColumnElement[bool],
        viewer: AccountLike | None = None,
        most: int | None = None,
    ) -> Matches:
        """Return the account with this id, email address or phone number, if it exists and meets
        the conditions, or else the accounts with this text in their address, name or phone number.

        With a viewer, phone numbers and hidden names are not searched: a member could find them out
        letter by letter.
        """
        text, model_id, by_phone = _words(search), self.model.id, viewer is None
        most = count_limit(text) if most is None else most
        exact = self._exact(text, by_phone)
        if exact is not None:
            exists_one = select(model_id).where(exact, *conditions).limit(1)
            if (only := self.session.scalar(exists_one)) is not None:
                return Matches(self.session, self.model, [_Arm(model_id, exact)], most, only)
        found = _Parts() if self._finds_parts() else _Starts(self._dialect)
        own = [*found.email(self.model.email, text)]
        if by_phone and (digits := _digits(text)):
            own.append(found.phone(self.model.phone, digits))
        tables = [names for source in self.names if (names := source.find(viewer)) is not None]
        by_name = [
            _Arm(table.account_id, and_(condition, table.condition))
            for table in tables
            for condition in found.names(table.columns, text)
        ]
        arms = [*(_Arm(model_id, each) for each in own), *by_name]
        return Matches(self.session, self.model, arms, most)

    @property
    def _dialect(self) -> str:
        return self.session.get_bind().dialect.name

    def _finds_parts(self) -> bool:
        # A dropped index makes the search slower until the next start, with the same results.
        self._has_index = self._has_index or has_trigram_index(self.session, self.model)
        if self._has_index:
            return True
        one_more = select(self.model.id).offset(MAX_SCANNED).limit(1)
        return self.session.scalar(one_more) is None

    def _exact(self, text: str, by_phone: bool) -> ColumnElement[bool] | None:
        if "@" in text:
            has_email: ColumnElement[bool] = self.model.email == fold(text)
            return has_email
        if text.startswith("+"):
            if not by_phone:
                return None
            try:
                phone: ColumnElement[bool] = self.model.phone == read_phone(text)
            except InvalidPhone:
                return None
            return phone
        if not re.fullmatch(self.id_kind.pattern, text, re.ASCII):
            return None
        try:
            has_id: ColumnElement[bool] = self.model.id == self.id_kind.from_path(text)
        except ValueError:
            return None
        return has_id


def count_limit(search: str) -> int:
    """Return the number up to which the matches of a search are counted."""
    return MAX_COUNT if len(_words(search)) >= MIN_PART else MAX_SHORT_COUNT


def _words(search: str) -> str:
    return " ".join(search.split())


def bytewise(column: Any, dialect: str) -> Any:
    """Sort by bytes, so that values with the same beginning are adjacent. PostgreSQL's default
    order depends on the language."""
    return collate(column, "C") if dialect == "postgresql" else column


def _digits(text: str) -> str:
    """Return the digits of a phone number without the prefix of a call, or an empty string."""
    digits = re.sub("[^0-9]", "", text).lstrip("0") if _PHONE.fullmatch(text) else ""
    return digits if len(digits) >= MIN_PART else ""


Conditions = Iterator[ColumnElement[bool]]


class _Parts:
    """The conditions that a text is part of a column. Each becomes a separate query."""

    def email(self, column: Any, text: str) -> Conditions:
        if " " not in text:
            yield column.like(_pattern(fold(text)), escape="\\")

    def phone(self, column: Any, digits: str) -> ColumnElement[bool]:
        found: ColumnElement[bool] = column.like(_pattern(digits))
        return found

    def names(self, columns: Sequence[Any], text: str) -> Conditions:
        """Yield the condition that each word is in one of the columns."""
        yield and_(*(or_(*self._word(columns, word)) for word in text.split()))

    def _word(self, columns: Sequence[Any], word: str) -> Conditions:
        # SQLite ignores the case of ASCII letters alone.
        spellings = [word] if word.isascii() else _spellings(word)
        for spelling in spellings:
            for column in columns:
                yield column.ilike(_pattern(spelling), escape="\\")


def _pattern(text: str) -> str:
    literal = re.sub(r"([\\%_])", r"\\\1", text)
    return f"{literal}%" if len(text) < MIN_PART else f"%{literal}%"


@dataclass(frozen=True)
class _Starts:
    """The conditions that a column starts with a text. Each becomes a separate query."""

    dialect: str

    def email(self, column: Any, text: str) -> Conditions:
        folded = fold(text)
        yield self._range(column, folded)
        if "." in folded or folded.startswith("@"):
            yield self._range(self._domain(column), folded.removeprefix("@"))

    def phone(self, column: Any, digits: str) -> ColumnElement[bool]:
        # Unlike other ranges, the same in the order of every locale.
        found: ColumnElement[bool] = column.between(f"+{digits}", f"+{digits}{_LONGEST_PHONE}")
        return found

    def names(self, columns: Sequence[Any], text: str) -> Conditions:
        """Yield the conditions that a column starts with the text, or two columns with its first
        and its other words."""
        first, _, others = text.partition(" ")
        for column in columns:
            yield self._name(column, text)
        if others:
            for one, another in permutations(columns, 2):
                yield and_(self._name(one, first), self._name(another, others))

    def _name(self, column: Any, text: str) -> ColumnElement[bool]:
        # The index distinguishes upper and lower case.
        return or_(*(self._range(column, spelling) for spelling in _spellings(text)))

    def _range(self, column: Any, start: str) -> ColumnElement[bool]:
        by_bytes = bytewise(column, self.dialect)
        return and_(by_bytes >= start, by_bytes < start + _END)

    def _domain(self, email: Any) -> Any:
        """Return the expression of the index on domains (search_indexes.py)."""
        at: Any = literal_column("'@'")
        if self.dialect == "postgresql":
            return func.split_part(email, at, literal_column("2"))
        return func.substr(email, func.instr(email, at) + literal_column("1"))


def _spellings(text: str) -> list[str]:
    return [*dict.fromkeys((text, text.lower(), text.upper(), text.title()))]
