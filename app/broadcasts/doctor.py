"""Check of broadcasts that are being sent, or that were given up."""

from collections.abc import Iterator

from sqlalchemy import inspect

from ..core.context import current_frontdesk
from ..core.doctor import Check, Finding
from ..delivery.doctor import find_lag
from ..notifications.models import GIVEN_UP, Expansion
from .counts import expansions_by_state, oldest_expansion


def check_broadcasts() -> Iterator[Finding]:
    context = current_frontdesk
    if not inspect(context.db.engine).has_table(Expansion.__tablename__):
        # The check of the migrations reports the missing table.
        return
    session = context.session
    yield from find_lag("broadcast", oldest_expansion(session))
    if count := expansions_by_state(session).get(GIVEN_UP):
        text = (
            f"Broadcasts that did not reach all recipients: {count}. The log has the reasons."
            " Run `flask notifications retry` to continue the broadcasts."
        )
        yield Finding("broadcasts", "fault", text)


CHECKS = (Check(check_broadcasts, "database"),)
