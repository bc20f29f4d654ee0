"""The activity of the owner's account."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from flask import Response

from ...audit.schemas import EntryPage
from ...audit.service import AuditLog
from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.sessions.devices import label_of
from ...core.actions import PROVIDER_ACTOR, TOKEN_ACTOR
from ...core.context import service
from ...core.types import AccountKey, Values
from ...core.web.paging import Slice
from ...core.web.replicas import reads_replica
from ...core.web.request_data import takes
from ...extension.actions import ACTIONS
from ..audit_rows import actor_name, entry_title
from ..pages import render_page
from ..texts import _, device_name

PER_PAGE = 30
# Actions that the page marks for a check.
_SUSPICIOUS = frozenset(
    (
        "login.failed",
        "passkey.suspected",
        "session.reused",
        "reauthentication.refused",
        "authenticators.reset",
        "recovery_code.used",
    )
)


class AccountActivity(NamedTuple):
    text: str
    at: datetime
    # The actor, or the device and IP address; empty if unknown.
    origin: str
    is_suspicious: bool


@active_account_required
@takes(query=EntryPage)
def activity_page(query: EntryPage.Input) -> Response:
    found = _page(caller().account.id, {**query, "limit": PER_PAGE})
    return render_page(
        "owner/activity.html",
        at="account_page",
        entries=activity_entries(found.rows),
        after=found.after,
        before=found.before,
    )


@reads_replica
def _page(account_id: AccountKey, page: EntryPage.Input) -> Slice:
    return service(AuditLog).of_account(account_id, page)


def activity_entries(rows: Iterable[Values]) -> list[AccountActivity]:
    me = caller().account.id
    return [_entry(row, me) for row in rows]


def _entry(row: Values, me: object) -> AccountActivity:
    # The titles of the application's own types are written for operators.
    title = entry_title(row, ACTIONS)
    return AccountActivity(title, row["at"], _origin(row, me), row["type"] in _SUSPICIOUS)


def _origin(row: Values, me: object) -> str:
    if row["actor_kind"] in (PROVIDER_ACTOR, TOKEN_ACTOR):
        return actor_name(row, {})
    if row["actor_kind"] == "system":
        return _("By the service")
    if row["actor_kind"] == "cli" or row["actor_id"] not in (None, me):
        return _("By an operator")
    return " · ".join(filter(None, (device_name(label_of(row["user_agent"])), row["address"])))
