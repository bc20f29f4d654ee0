"""What admin pages share: who sees them, their filters, and the names of statuses and roles."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from flask import request
from sqlalchemy import select

from ...accounts.service import Accounts
from ...auth.decorators import active_account_required, roles_required
from ...core.context import current_frontdesk, service
from ...core.db.account_ids import serialize_id
from ...core.errors import Invalid
from ...core.web.operation import View, hidden
from ..navigation import ADMINS
from ..page_globals import zone
from ..texts import _, later


def admins_only(view: View) -> View:
    """Who sees the pages of administration; their forms ask what the API's routes ask."""
    return roles_required(*ADMINS)(active_account_required(hidden(view)))


_STATUSES = {
    "active": later("Active"),
    "online": later("Online"),
    "inactive": later("Inactive"),
    "suspended": later("Suspended"),
    "pending": later("Unverified"),
    "deleting": later("Scheduled for deletion"),
}
_ROLES = {"root": later("Root"), "admin": later("Admin"), "user": later("User")}


def statuses(words: Iterable[str]) -> list[tuple[str, str]]:
    """A host may have others beside ours, and those are called what they are."""
    return [(word, _(_STATUSES.get(word, word))) for word in words]


def roles(words: Iterable[str]) -> list[tuple[str, str]]:
    return [(word, _(_ROLES.get(word, word))) for word in words]


_DAY = timedelta(days=1)


def asked(names: Iterable[str]) -> dict[str, str]:
    """What was given of a page's filters; one left empty is none."""
    given = ((name, request.args.get(name, "").strip()) for name in names)
    return {name: value for name, value in given if value}


def with_moments(filters: Mapping[str, str], *, starts: str = "", ends: str = "") -> dict[str, str]:
    """Days, as a browser's field for a date writes them, as moments of the reader's clock. What is
    no day stays, and is refused in the API's own words."""
    found = dict(filters)
    for name, days in ((starts, 0), (ends, 1)):
        if name in found:
            found[name] = moment_of_day(found[name], days) or found[name]
    return found


def moment_of_day(text: str, later: int = 0) -> str:
    """When a day begins, or one of the days after it; empty where it is no day."""
    try:
        day = date.fromisoformat(text) + later * _DAY
        begins = datetime.combine(day, time(), zone() or UTC)
        return begins.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return ""


def addresses(ids: Iterable[Any]) -> dict[Any, str]:
    """Of these accounts, those that there are, by their ids as they are shown; in one query."""
    model = service(Accounts).model
    wanted = {each for each in ids if each is not None}
    if not wanted:
        return {}
    rows = current_frontdesk.session.execute(
        select(model.id, model.email).where(model.id.in_(wanted))
    )
    return {serialize_id(account_id): email for account_id, email in rows}


def faults_of(problem: Invalid) -> Sequence[str]:
    """Each in a sentence, for filters that no form of ours has written."""
    found = [
        _("{field}: {fault}", field=each.field, fault=_(each.message)) for each in problem.faults
    ]
    return list(found) or [_(problem.detail)]
