"""Counts by time: few rows are counted for each page, the numbers of many are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import ColumnElement, Engine, Integer, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from app.core.db.base import UtcDateTime
from app.core.keystore import Keystore, KeystoreUnavailable, MemoryKeystore
from app.core.time_series import Bucket, Series, TimeSeriesCounter

START = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
BUCKETS = [Bucket(START + n * DAY, START + (n + 1) * DAY) for n in range(3)]


class Base(DeclarativeBase):
    pass


class Visit(Base):
    __tablename__ = "visits"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    user: Mapped[int]


@dataclass
class FixedClock:
    time: datetime

    def now(self) -> datetime:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


VISITS = Series("visits", Visit.at, is_final=True)
USERS = Series("users", Visit.at, distinct=Visit.user)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(BUCKETS[-1].start + timedelta(hours=12))


@pytest.fixture
def session() -> Iterator[Session]:
    engine: Engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        for user, hours in enumerate((1, 2, 30, 31, 50)):
            session.add(Visit(at=START + timedelta(hours=hours), user=user // 2))
        # Not in the buckets.
        session.add(Visit(at=START - DAY, user=9))
        session.add(Visit(at=START + 5 * DAY, user=9))
        session.commit()
        yield session


@pytest.fixture
def keystore(clock: FixedClock) -> Keystore:
    return MemoryKeystore(clock)


@pytest.fixture
def counter(session: Session, keystore: Keystore, clock: FixedClock) -> TimeSeriesCounter:
    return TimeSeriesCounter(session, keystore, clock)


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat the rows as many."""
    monkeypatch.setattr("app.core.time_series.FEW_ROWS", 0)


def test_few_rows_are_counted_at_once(counter: TimeSeriesCounter, session: Session) -> None:
    assert counter.count(VISITS, BUCKETS) == [2, 2, 1]
    assert counter.count(USERS, BUCKETS) == [1, 1, 1]
    session.add(Visit(at=START, user=7))
    assert counter.count(VISITS, BUCKETS) == [3, 2, 1]
    assert counter.count(USERS, BUCKETS) == [2, 1, 1]
    assert not counter.uses_stored


def test_rows_between_buckets_are_not_counted(counter: TimeSeriesCounter) -> None:
    cut = Bucket(START, START + timedelta(hours=2))
    assert counter.count(VISITS, [cut, BUCKETS[2]]) == [1, 1]


def test_conditions_select_rows(counter: TimeSeriesCounter) -> None:
    first: list[ColumnElement[bool]] = [Visit.user == 0]
    assert counter.count(Series("first", Visit.at, first), BUCKETS) == [2, 0, 0]


@pytest.mark.usefixtures("many")
def test_numbers_of_many_rows_are_stored(
    counter: TimeSeriesCounter, session: Session, clock: FixedClock
) -> None:
    assert counter.count(VISITS, BUCKETS) == [2, 2, 1]
    assert counter.count(USERS, BUCKETS) == [1, 1, 1]
    assert counter.uses_stored
    for bucket in BUCKETS:
        session.add(Visit(at=bucket.start, user=7))
    assert counter.count(VISITS, BUCKETS) == [2, 2, 1]
    clock.advance(61)
    # The last day is not over.
    assert counter.count(VISITS, BUCKETS) == [2, 2, 2]
    assert counter.count(USERS, BUCKETS) == [1, 1, 2]
    clock.advance(3600)
    # Rows of visits are final, and those of users can change.
    assert counter.count(VISITS, BUCKETS) == [2, 2, 2]
    assert counter.count(USERS, BUCKETS) == [2, 2, 2]


@pytest.mark.usefixtures("many")
def test_number_of_a_cut_bucket_is_stored_for_a_minute(
    counter: TimeSeriesCounter, session: Session, clock: FixedClock
) -> None:
    cut = Bucket(START, START + timedelta(hours=2), is_cut=True)
    assert counter.count(VISITS, [cut]) == [1]
    session.add(Visit(at=START, user=7))
    assert counter.count(VISITS, [cut]) == [1]
    clock.advance(61)
    assert counter.count(VISITS, [cut]) == [2]


@pytest.mark.usefixtures("many")
def test_bucket_is_counted_again_after_its_end(
    counter: TimeSeriesCounter, session: Session, clock: FixedClock
) -> None:
    clock.advance(12 * 3600 - 10)
    assert counter.count(VISITS, BUCKETS) == [2, 2, 1]
    # A transaction of the last day commits later.
    session.add(Visit(at=BUCKETS[-1].end - timedelta(seconds=1), user=7))
    clock.advance(700)
    assert counter.count(VISITS, BUCKETS) == [2, 2, 2]


@pytest.mark.usefixtures("many")
def test_later_pages_continue_counting(
    session: Session, keystore: Keystore, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([0.0, 0.0, 9.0, 9.0])
    monkeypatch.setattr("app.core.time_series.monotonic", lambda: next(times))
    # The first page has time for one bucket, the newest.
    assert TimeSeriesCounter(session, keystore, clock).count(VISITS, BUCKETS) is None
    monkeypatch.setattr("app.core.time_series.monotonic", lambda: 0.0)
    for bucket in BUCKETS:
        session.add(Visit(at=bucket.start, user=7))
    assert TimeSeriesCounter(session, keystore, clock).count(VISITS, BUCKETS) == [3, 3, 1]


@pytest.mark.usefixtures("many")
def test_outdated_numbers_are_shown_if_there_is_no_time(
    session: Session, keystore: Keystore, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = BUCKETS[:2]
    assert TimeSeriesCounter(session, keystore, clock).count(USERS, past) == [1, 1]
    session.add(Visit(at=START, user=7))
    clock.advance(3601)
    monkeypatch.setattr("app.core.time_series.COUNTING_SECONDS", -1)
    assert TimeSeriesCounter(session, keystore, clock).count(USERS, past) == [1, 1]
    monkeypatch.setattr("app.core.time_series.COUNTING_SECONDS", 9)
    assert TimeSeriesCounter(session, keystore, clock).count(USERS, past) == [2, 1]


@pytest.mark.usefixtures("many")
def test_rows_are_counted_without_a_state_store(session: Session, clock: FixedClock) -> None:
    class Unavailable(MemoryKeystore):
        def get_many(self, keys: object) -> list[str | None]:
            raise KeystoreUnavailable

        def put(self, key: str, value: str, seconds: int) -> None:
            raise KeystoreUnavailable

    counter = TimeSeriesCounter(session, Unavailable(clock), clock)
    assert counter.count(VISITS, BUCKETS) == [2, 2, 1]
    assert counter.count_rows("all", select(Visit.id)) == 7


def test_number_of_many_rows_is_stored_for_five_minutes(
    counter: TimeSeriesCounter, session: Session, clock: FixedClock
) -> None:
    rows = select(Visit.id)
    assert counter.count_rows("all", rows, most=7) == 7
    session.add(Visit(at=START, user=7))
    assert counter.count_rows("all", rows, most=7) == 8
    session.add(Visit(at=START, user=7))
    assert counter.count_rows("all", rows, most=7) == 8
    clock.advance(301)
    assert counter.count_rows("all", rows, most=7) == 9
