"""Numbers of rows for pages, at a cost that does not grow with the table."""

from typing import Any, NamedTuple

from sqlalchemy import Select, func, select, text

from .transaction import AnySession

MAX_COUNT = 10_000

# The row count of PostgreSQL's statistics.
_STATISTICS = text("SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(:name)")


class Estimate(NamedTuple):
    number: int
    # `exactly`, `about` or `over`.
    how: str


def count_rows(session: AnySession, ids: Select[Any], most: int | None = None) -> Estimate:
    """Return the number of rows, exact up to a limit, by default MAX_COUNT."""
    most = MAX_COUNT if most is None else most
    some = ids.limit(most + 1).subquery()
    counted = session.scalar(select(func.count()).select_from(some)) or 0
    return Estimate(most, "over") if counted > most else Estimate(counted, "exactly")


def estimate(session: AnySession, model: type[Any]) -> Estimate:
    """Return the number of a model's rows: exact up to MAX_COUNT, then from the statistics."""
    counted = count_rows(session, select(model.id))
    dialect = session.get_bind().dialect
    if counted.how == "over" and dialect.name == "postgresql":
        name = dialect.identifier_preparer.format_table(model.__table__)
        number = session.scalar(_STATISTICS, {"name": name})
        if number is not None and number > MAX_COUNT:
            return Estimate(_round(number), "about")
    return counted


def _round(count: int) -> int:
    """Round to three digits, as the statistics are not exact."""
    step: int = 10 ** max(len(str(count)) - 3, 0)
    return round(count / step) * step
