"""Counts rows by time for a page, at a cost that does not grow with the table.

Up to FEW_ROWS rows are counted for each page. For more, the state store keeps the count of each
bucket. A page counts buckets for a limited time, so that the first pages show no count yet.
"""

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, NamedTuple

import orjson
from sqlalchemy import ColumnElement, Select, SQLColumnExpression, TextClause, func, select

from .clock import Clock
from .db.base import timestamp_literal
from .db.transaction import AnySession
from .keystore import Keystore, KeystoreUnavailable

FEW_ROWS = 2_000
# Seconds that a page may spend on counting.
COUNTING_SECONDS = 0.4
# A transaction can store rows of a bucket after its end.
SETTLED_AFTER = timedelta(minutes=10)
# How long the count of a bucket is valid: before all of its rows are stored, and afterwards.
FRESH_SECONDS, SETTLED_SECONDS = 60, 3600
KEPT_SECONDS = 40 * 24 * 3600


class Bucket(NamedTuple):
    start: datetime
    end: datetime
    # Ends before the usual end of a bucket, for a comparison with a period until now.
    is_cut: bool = False


@dataclass(frozen=True, eq=False)
class Series:
    """Rows of a table by the time in a column. An index finds the rows of a time."""

    name: str
    at: SQLColumnExpression[Any]
    conditions: Sequence[ColumnElement[bool] | TextClause] = ()
    # If set, rows with the same value are counted once in each bucket.
    distinct: SQLColumnExpression[Any] | None = None
    # Rows are never changed, and deleted only when they are old.
    is_final: bool = False

    def rows(self, bucket: Bucket) -> Select[Any]:
        at = self.at
        columns = [at] if self.distinct is None else [at, self.distinct]
        return select(*columns).where(
            at >= timestamp_literal(at, bucket.start),
            at < timestamp_literal(at, bucket.end),
            *self.conditions,
        )

    def number(self, bucket: Bucket) -> Select[int]:
        number = func.count() if self.distinct is None else func.count(self.distinct.distinct())
        return self.rows(bucket).with_only_columns(number)


class _Stored(NamedTuple):
    counted_at: float
    number: int


@dataclass(eq=False)
class TimeSeriesCounter:
    """Counts series for one page."""

    session: AnySession
    keystore: Keystore
    clock: Clock
    # The page shows counts from the state store.
    uses_stored: bool = False
    _until: float = field(default_factory=lambda: monotonic() + COUNTING_SECONDS, init=False)

    def count(self, series: Series, buckets: Sequence[Bucket]) -> Sequence[int] | None:
        """Return the number of each bucket, or None if a later page has to continue counting.

        The buckets are in order and do not overlap.
        """
        keys = [_key(series, bucket) for bucket in buckets]
        stored = self._load(keys)
        if not any(stored):
            few = self._count_few(series, buckets)
            if few is not None:
                return few
        self.uses_stored = True
        found = dict(zip(keys, stored, strict=True))
        has_all = True
        # The newest buckets first.
        for key, bucket in reversed(list(zip(keys, buckets, strict=True))):
            known = found[key]
            if known is not None and self._is_valid(series, bucket, known):
                continue
            if monotonic() < self._until:
                found[key] = self._recount(series, bucket, key)
            elif known is None or not self._is_settled(bucket, known):
                has_all = False
        return [each.number for each in found.values() if each] if has_all else None

    def count_rows(self, name: str, rows: Select[Any], most: int = FEW_ROWS * 5) -> int:
        """Return the number of rows; many rows are counted once in five minutes."""
        key = f"counts:{name}"
        [known] = self._load([key])
        if known is None:
            some = rows.limit(most + 1).subquery()
            number = self.session.scalar(select(func.count()).select_from(some)) or 0
            if number <= most:
                return number
            all_rows = rows.subquery()
            number = self.session.scalar(select(func.count()).select_from(all_rows)) or 0
            known = self._store(key, number, FRESH_SECONDS * 5)
        self.uses_stored = True
        return known.number

    def _count_few(self, series: Series, buckets: Sequence[Bucket]) -> Sequence[int] | None:
        """Return the number of each bucket unless there are too many rows."""
        rows = series.rows(Bucket(buckets[0].start, buckets[-1].end)).limit(FEW_ROWS + 1)
        found = self.session.execute(rows).all()
        if len(found) > FEW_ROWS:
            return None
        starts = [bucket.start for bucket in buckets]
        values: list[list[Any]] = [[] for _ in buckets]
        for at, *value in found:
            moment = at if at.tzinfo else at.replace(tzinfo=UTC)
            index = bisect_right(starts, moment) - 1
            if moment < buckets[index].end:
                values[index] += value or [moment]
        return [len(each if series.distinct is None else set(each)) for each in values]

    def _recount(self, series: Series, bucket: Bucket, key: str) -> _Stored:
        number = self.session.scalar(series.number(bucket)) or 0
        # The next page cuts the bucket elsewhere.
        is_kept = self.clock.now() >= bucket.end + SETTLED_AFTER and not bucket.is_cut
        return self._store(key, number, KEPT_SECONDS if is_kept else FRESH_SECONDS)

    def _is_valid(self, series: Series, bucket: Bucket, known: _Stored) -> bool:
        if not self._is_settled(bucket, known):
            # The state store deletes the entry when it is too old.
            return self.clock.now() < bucket.end + SETTLED_AFTER
        age = self.clock.now().timestamp() - known.counted_at
        return series.is_final or age < SETTLED_SECONDS

    @staticmethod
    def _is_settled(bucket: Bucket, known: _Stored) -> bool:
        return known.counted_at >= (bucket.end + SETTLED_AFTER).timestamp()

    def _load(self, keys: Sequence[str]) -> list[_Stored | None]:
        try:
            values = self.keystore.get_many(keys)
        except KeystoreUnavailable:
            return [None] * len(keys)
        return [_Stored(*orjson.loads(value)) if value else None for value in values]

    def _store(self, key: str, number: int, seconds: int) -> _Stored:
        stored = _Stored(self.clock.now().timestamp(), number)
        # Without the store, the next page counts again.
        with suppress(KeystoreUnavailable):
            self.keystore.put(key, orjson.dumps(list(stored)).decode(), seconds)
        return stored


def _key(series: Series, bucket: Bucket) -> str:
    return f"counts:{series.name}:{bucket.start.timestamp():.0f}:{bucket.end.timestamp():.0f}"
