"""Timestamps in a database that stores no UTC offset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Column, DateTime, MetaData, Table, create_engine, insert, select, text

from app.core.db.base import UtcDateTime

MOMENT = datetime(2030, 1, 2, 3, 4, 5, 67, tzinfo=UTC)
UTC_TABLE = Table("moments", MetaData(), Column("at", UtcDateTime))
PLAIN_TABLE = Table("moments", MetaData(), Column("at", DateTime))


def read(written: str) -> datetime:
    engine = create_engine("sqlite://")
    UTC_TABLE.create(engine)
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO moments VALUES (:at)"), {"at": written})
        found: datetime = connection.execute(select(UTC_TABLE.c.at)).scalar_one()
        return found


@pytest.mark.parametrize("hours", [0, 5, -8])
def test_timestamp_is_the_same_with_any_offset(hours: int) -> None:
    engine = create_engine("sqlite://")
    UTC_TABLE.create(engine)
    there = MOMENT.astimezone(timezone(timedelta(hours=hours)))
    with engine.begin() as connection:
        connection.execute(insert(UTC_TABLE).values(at=there))
        assert connection.execute(select(UTC_TABLE.c.at)).scalar_one() == MOMENT
        # SQLAlchemy's type, which an application may use for the same column.
        assert connection.execute(select(PLAIN_TABLE.c.at)).scalar_one() == MOMENT.replace(
            tzinfo=None
        )
        connection.execute(insert(PLAIN_TABLE).values(at=MOMENT.replace(tzinfo=None)))
        assert set(connection.execute(select(UTC_TABLE.c.at)).scalars()) == {MOMENT}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2030-01-02 03:04:05.000067", MOMENT),
        ("2030-01-02 03:04:05", MOMENT.replace(microsecond=0)),
        ("2030-01-02T03:04:05.000067", MOMENT),
        ("2030-01-02 05:04:05.000067+02:00", MOMENT),
        ("2030-01-02", datetime(2030, 1, 2, tzinfo=UTC)),
    ],
)
def test_timestamps_written_by_other_programs_are_read(written: str, expected: datetime) -> None:
    assert read(written) == expected
