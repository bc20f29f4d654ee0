"""Finds accounts by email address, name, phone number and id.

A text with three letters or digits in a row is found in any part of a value, along trigram indexes
(search_indexes.py), or in few accounts. Other texts, and all texts in many accounts without these
indexes, are found at the start, along indexes of sorted values.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, collate, func, or_, select, union
from sqlalchemy import literal_column as sql

from ..core.context import Context
from ..core.db.account_ids import IdKind
from ..core.db.id_lists import id_list
from ..core.db.search_indexes import SearchedNames, has_trigram_index
from ..core.db.transaction import AnySession
from ..core.types import AccountKey, AccountModel
from .addresses import fold, read_phone
from .errors import InvalidPhone
from .models import Viewer

# More matches are not counted, and are searched row by row among the first MAX_CHECKED rows.
MAX_MATCHES = 1_000
MAX_CHECKED = 20_000
# Up to this number of accounts, a part is found without an index: both tables are read whole.
MAX_SCANNED = 20_000
# A trigram index needs such a text.
_RUN = re.compile(r"[^\W_]{3}")
# The end of a range of texts with the same start: none has the last Unicode character.
_END = "\U0010ffff"

Conditions = Iterator[ColumnElement[bool]]


class Matches(NamedTuple):
    """The accounts that a search finds."""

    # None if there are more than MAX_MATCHES.
    ids: Collection[AccountKey] | None
    # The condition that an account is found. With many matches, it checks row after row, so only
    # a limited number of rows may be read.
    is_match: ColumnElement[bool]


class NameSource(NamedTuple):
    """A table with the names of accounts."""

    # Called with the viewer, or with None to search all names. Returns None if the application
    # does not have the table.
    find: Callable[[Viewer | None], SearchedNames | None]


@dataclass(eq=False)
class AccountFinder:
    session: AnySession
    model: AccountModel
    id_kind: IdKind
    names: Sequence[NameSource]
    _has_index: bool = field(default=False, init=False)

    def find(
        self, search: str, *conditions: ColumnElement[bool], viewer: Viewer | None = None
    ) -> Matches:
        """Return the account with this id, email address or phone number, if it exists and meets
        the conditions, or else the accounts with this text in their address, name or phone number.

        With a viewer, phone numbers and hidden names are not searched: a member could find them out
        letter by letter.
        """
        text, model, by_phone = " ".join(search.split()), self.model, viewer is None
        exact = self._exact(text, by_phone)
        if exact is not None:
            only = self.session.scalar(select(model.id).where(exact, *conditions).limit(1))
            if only is not None:
                return Matches([only], exact)
        starts = _Starts(self._dialect)
        texts = _Parts() if self._finds_parts(text) else starts
        of_row = [*texts.email(model.email, text)]
        if by_phone and (digits := _digits(text)):
            of_row.append(texts.phone(model.phone, digits))
        # First the starts: a trigram index is read whole before its first row, which is slow for a
        # common domain.
        first = starts.email(model.email, text) if texts is not starts else ()
        arms = [select(model.id).where(each) for each in (*first, *of_row)]
        for table in filter(None, (source.find(viewer) for source in self.names)):
            by_name = [*texts.names(table.columns, text)]
            arms += (select(table.account_id).where(each, table.condition) for each in by_name)
            # For EXISTS, the database would read the whole table.
            of_names = select(or_(*by_name)).where(table.account_id == model.id, table.condition)
            of_row.append(of_names.correlate(model).scalar_subquery())
        ids = self.session.scalars(_union(arms)).all()
        return Matches(None, or_(*of_row)) if len(ids) > MAX_MATCHES else self.of_ids(ids)

    def of_ids(self, ids: Collection[AccountKey]) -> Matches:
        listed = id_list([*ids], self.model.id.type, self.session.get_bind().dialect)
        return Matches(ids, self.model.id.in_(select(listed)))

    @property
    def _dialect(self) -> str:
        return self.session.get_bind().dialect.name

    def _finds_parts(self, text: str) -> bool:
        if _RUN.search(text) is None:
            return False
        # A dropped index makes the search slower until the next start, with the same results.
        self._has_index = self._has_index or has_trigram_index(self.session, self.model)
        one_more = select(self.model.id).offset(MAX_SCANNED).limit(1)
        return self._has_index or self.session.scalar(one_more) is None

    def _exact(self, text: str, by_phone: bool) -> ColumnElement[bool] | None:
        found: ColumnElement[bool] | None = None
        try:
            if "@" in text:
                found = self.model.email == fold(text)
            elif by_phone and text.startswith("+"):
                found = self.model.phone == read_phone(text)
            elif re.fullmatch(self.id_kind.pattern, text, re.ASCII):
                found = self.model.id == self.id_kind.from_path(text)
        except (InvalidPhone, ValueError):
            return None
        return found


def _union(arms: Sequence[Select[Any]]) -> Select[Any]:
    """Select the ids of the arms, at most one more than MAX_MATCHES.

    The limit within a CTE is a subquery: with a number, the database would read a whole table where
    it expects more matches than there are.
    """
    most = select(sql(str(MAX_MATCHES + 1))).scalar_subquery()
    found: list[Select[Any]] = []
    for number, arm in enumerate(arms):
        # No more arms are read after one with too many ids.
        counts = (select(func.count()).select_from(each.subquery()) for each in found)
        few = arm.where(*(each.scalar_subquery() <= MAX_MATCHES for each in counts))
        cte = few.limit(most).cte(f"arm_{number}").prefix_with("MATERIALIZED", dialect="postgresql")
        found.append(select(cte.c[0].label("id")))
    return select(union(*found).subquery().c.id).limit(MAX_MATCHES + 1)


def bytewise(column: Any, dialect: str) -> Any:
    """Sort by bytes, so that values with the same beginning are adjacent. PostgreSQL's default
    order depends on the language."""
    return collate(column, "C") if dialect == "postgresql" else column


def _digits(text: str) -> str:
    """Return the digits of a phone number without the prefix of a call, or an empty string."""
    is_number = re.fullmatch(r"[+0-9 ()./-]+", text)
    digits = re.sub("[^0-9]", "", text).lstrip("0") if is_number else ""
    return digits if len(digits) >= 3 else ""


class _Parts:
    """The conditions that a text is part of a column. Each becomes a separate query."""

    def email(self, column: ColumnElement[str], text: str) -> Conditions:
        if " " not in text:
            yield column.like(_pattern(fold(text)), escape="\\")

    def phone(self, column: ColumnElement[str], digits: str) -> ColumnElement[bool]:
        return column.like(_pattern(digits))

    def names(self, columns: Sequence[Any], text: str) -> Conditions:
        """Yield the condition that each word is in one of the columns."""
        yield and_(*(or_(*self._word(columns, word)) for word in text.split()))

    def _word(self, columns: Sequence[Any], word: str) -> Conditions:
        # SQLite ignores the case of ASCII letters alone.
        for spelling in [word] if word.isascii() else _spellings(word):
            yield from (column.ilike(_pattern(spelling), escape="\\") for column in columns)


def _pattern(text: str) -> str:
    literal = re.sub(r"([\\%_])", r"\\\1", text)
    return f"%{literal}%" if _RUN.search(text) else f"{literal}%"


@dataclass(frozen=True)
class _Starts:
    """The conditions that a column starts with a text. Each becomes a separate query."""

    dialect: str

    def email(self, column: ColumnElement[str], text: str) -> Conditions:
        folded = fold(text)
        yield self._range(column, folded)
        if "." in folded or folded.startswith("@"):
            # The expression of the index on domains (search_indexes.py).
            at: Any = sql("'@'")
            domain: Any = func.substr(column, func.instr(column, at) + sql("1"))
            if self.dialect == "postgresql":
                domain = func.split_part(column, at, sql("2"))
            yield self._range(domain, folded.removeprefix("@"))

    def phone(self, column: ColumnElement[str], digits: str) -> ColumnElement[bool]:
        # Unlike other ranges, the same in the order of every locale.
        return column.between(f"+{digits}", f"+{digits}{'9' * 15}")

    def names(self, columns: Sequence[Any], text: str) -> Conditions:
        """Yield the conditions that a column starts with the text, or two columns with its first
        and its other words."""
        first, _, others = text.partition(" ")
        yield from (self._name(column, text) for column in columns)
        for one, another in permutations(columns, 2) if others else ():
            yield and_(self._name(one, first), self._name(another, others))

    def _name(self, column: object, text: str) -> ColumnElement[bool]:
        # The database may lower ASCII letters alone, as SQLite does.
        starts = {re.sub("[A-Z]", lambda a: a[0].lower(), each) for each in _spellings(text)}
        return or_(*(self._range(func.lower(column), start) for start in sorted(starts)))

    def _range(self, column: object, start: str) -> ColumnElement[bool]:
        by_bytes = bytewise(column, self.dialect)
        return and_(by_bytes >= start, by_bytes < start + _END)


def _spellings(text: str) -> list[str]:
    return [*dict.fromkeys((text, text.lower(), text.upper(), text.title()))]


def assemble(context: Context) -> None:
    """Add the search, which only some features need."""
    context.provide(AccountFinder, _finder)


def _finder(context: Context) -> AccountFinder:
    model = context.tables.account_model
    assert model is not None
    names = context.contributions(NameSource)
    return AccountFinder(context.session, model, context.tables.account_ids, names)
