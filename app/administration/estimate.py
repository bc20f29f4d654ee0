"""About how many accounts there are: to count a million of them for a page takes too long."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import func, select, text

from ..core.db.transaction import AnySession
from ..core.types import AccountModel

MOST = 10_000
# What the database itself has noted when it last looked its table through.
_NOTED = text("SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(:name)")


class Estimate(NamedTuple):
    number: int
    # `exactly` so many, `about`, or `over`.
    how: str


def estimate(session: AnySession, model: AccountModel) -> Estimate:
    some = select(model.id).limit(MOST + 1).subquery()
    counted = session.scalar(select(func.count()).select_from(some)) or 0
    if counted <= MOST:
        return Estimate(counted, "exactly")
    dialect = session.get_bind().dialect
    if dialect.name == "postgresql":
        name = dialect.identifier_preparer.format_table(model.__table__)
        noted = session.scalar(_NOTED, {"name": name})
        if noted is not None and noted > MOST:
            return Estimate(_round(noted), "about")
    return Estimate(MOST, "over")


def _round(count: int) -> int:
    """To three digits: it is no truer than that."""
    step: int = 10 ** max(len(str(count)) - 3, 0)
    return round(count / step) * step
