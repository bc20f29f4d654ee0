"""Moments in a database that keeps no offset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Column, DateTime, MetaData, Table, create_engine, insert, select, text

from app.core.db.base import UtcDateTime

MOMENT = datetime(2030, 1, 2, 3, 4, 5, 67, tzinfo=UTC)
OURS = Table("moments", MetaData(), Column("at", UtcDateTime))
THEIRS = Table("moments", MetaData(), Column("at", DateTime))


def read(written: str) -> datetime:
    engine = create_engine("sqlite://")
    OURS.create(engine)
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO moments VALUES (:at)"), {"at": written})
        found: datetime = connection.execute(select(OURS.c.at)).scalar_one()
        return found


@pytest.mark.parametrize("hours", [0, 5, -8])
def test_a_moment_is_the_same_whatever_its_offset_was(hours: int) -> None:
    engine = create_engine("sqlite://")
    OURS.create(engine)
    there = MOMENT.astimezone(timezone(timedelta(hours=hours)))
    with engine.begin() as connection:
        connection.execute(insert(OURS).values(at=there))
        assert connection.execute(select(OURS.c.at)).scalar_one() == MOMENT
        # As SQLAlchemy's own type has it, which a host may use for the same column.
        assert connection.execute(select(THEIRS.c.at)).scalar_one() == MOMENT.replace(tzinfo=None)
        connection.execute(insert(THEIRS).values(at=MOMENT.replace(tzinfo=None)))
        assert set(connection.execute(select(OURS.c.at)).scalars()) == {MOMENT}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2030-01-02 03:04:05.000067", MOMENT),
        ("2030-01-02 03:04:05", MOMENT.replace(microsecond=0)),
        ("2030-01-02T03:04:05.000067", MOMENT),
        ("2030-01-02 05:04:05.000067+02:00", MOMENT),
        ("2030-01-02", datetime(2030, 1, 2, tzinfo=UTC)),
    ],
)
def test_what_others_have_written_is_read_too(written: str, meant: datetime) -> None:
    assert read(written) == meant
