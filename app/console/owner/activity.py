"""What happened to the owner's account: the titles of its actions."""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypedDict

from flask import Response

from ...audit.schemas import RecordPage
from ...audit.service import Records
from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.sessions.devices import label_of
from ...core.context import service
from ...core.types import Values
from ...core.web.fields import RequestSchema
from ...core.web.operation import hidden
from ...core.web.request_data import takes
from ...extension.actions import ACTIONS
from ..pages import page
from ..texts import _

AT_ONCE = 30
# Those are worth a second look.
_ODD = frozenset(
    (
        "login.failed",
        "passkey.suspected",
        "session.reused",
        "reauthentication.refused",
        "authenticators.reset",
        "recovery_code.used",
    )
)


class OwnDeed(NamedTuple):
    text: str
    at: Any
    # By whom, or from where; empty where nobody knows.
    origin: str
    is_odd: bool


class ActivityView(RequestSchema):
    class Input(TypedDict):
        after: str | None

    after = RecordPage._declared_fields["after"]


@active_account_required
@hidden
@takes(query=ActivityView)
def activity_page(query: ActivityView.Input) -> Response:
    found = service(Records).of_account(caller().account.id, query["after"], AT_ONCE)
    return page(
        "owner/activity.html",
        at="account_page",
        deeds=deeds(found.rows),
        after=found.after,
        is_first=query["after"] is None,
    )


def deeds(rows: Iterable[Values]) -> list[OwnDeed]:
    me = caller().account.id
    return [_deed(row, me) for row in rows]


def _deed(row: Values, me: object) -> OwnDeed:
    name = row["type"]
    action = ACTIONS.get(name)
    # The titles of the application's own types are written for operators.
    return OwnDeed(_(action.title) if action else name, row["at"], _origin(row, me), name in _ODD)


def _origin(row: Values, me: object) -> str:
    if row["actor_kind"] == "system":
        return _("By the service")
    if row["actor_kind"] == "cli" or row["actor_id"] not in (None, me):
        return _("By an operator")
    return " · ".join(filter(None, (label_of(row["user_agent"]), row["address"])))
