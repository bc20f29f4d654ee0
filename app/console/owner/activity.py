"""What has happened to the owner's account, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from flask import Response

from ...audit.schemas import RecordPage
from ...audit.service import Records
from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...auth.sessions.devices import label_of
from ...core.context import service
from ...core.web.fields import Received
from ...core.web.operation import hidden
from ...core.web.reading import takes
from ..pages import page
from ..texts import _, later

TEXTS: Mapping[str, str] = {
    "login.succeeded": later("Signed in"),
    "login.challenged": later("Asked for a second factor"),
    "login.code_requested": later("Asked for a sign-in code by mail"),
    "login.failed": later("A sign-in failed"),
    "reauthentication.succeeded": later("Confirmed who you are"),
    "reauthentication.refused": later("Could not confirm who you are"),
    "logout.succeeded": later("Signed out"),
    "tokens.ended": later("Signed out everywhere by an operator"),
    "session.ended": later("A session was ended"),
    "session.reused": later("A session was ended, as its token was used twice"),
    "password.reset_requested": later("Asked to recover the password"),
    "password.reset_refused": later("The password could not be recovered"),
    "password.reset": later("Set a new password by mail"),
    "password.changed": later("Changed the password"),
    "password.removed": later("The password was removed"),
    "account.created": later("The account was made"),
    "account.verified": later("Confirmed the e-mail address"),
    "account.updated": later("Changed details of the account"),
    "account.deletion_requested": later("Asked to delete the account"),
    "account.restored": later("Kept the account"),
    "account.exported": later("Asked for a copy of all data"),
    "account.unlocked": later("Your account was unlocked by an operator"),
    "email.change_requested": later("Asked for another e-mail address"),
    "email.change_undone": later("Took back a change of the e-mail address"),
    "identity.linked": later("Linked a sign-in through a provider"),
    "identity.unlinked": later("A sign-in through a provider was unlinked"),
    "authenticator.added": later("Added a second factor"),
    "authenticator.renamed": later("Renamed a second factor"),
    "authenticator.removed": later("Removed a second factor"),
    "authenticators.reset": later("All second factors were taken away"),
    "passkey.suspected": later("A passkey may have been copied"),
    "recovery_codes.created": later("Made new recovery codes"),
    "recovery_code.used": later("Used a recovery code"),
    "device.trusted": later("Trusted a device"),
    "device.forgotten": later("Trusts a device no longer"),
    "registration.passed_over": later("Somebody tried to register your address"),
    "registration.refused": later("A registration was refused"),
    "profile.created": later("Made the profile"),
    "profile.updated": later("Changed the profile"),
    "profile.deleted": later("Deleted the profile"),
    "workspace.created": later("Made a workspace"),
    "workspace.deleted": later("A workspace was deleted"),
    "member.added": later("Became a member of a workspace"),
    "member.updated": later("The membership of a workspace changed"),
    "member.removed": later("Left a workspace, or was removed from it"),
    "invitation.accepted": later("Accepted an invitation"),
    "invitation.declined": later("Declined an invitation"),
    "invitation.created": later("Was invited into a workspace"),
    "notification.sent": later("Sent a notification"),
    "notification.deleted": later("Deleted a notification"),
    "proof.refused": later("A mailed link or code was refused"),
    "access.refused": later("Asked for something that was refused"),
    "limit.reached": later("Came to a limit"),
}

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


class ActivityView(Received):
    after = RecordPage._declared_fields["after"]


@active_account_required
@hidden
@takes(query=ActivityView)
def activity_page(query: dict[str, Any]) -> Response:
    found = service(Records).of_oneself(caller().account.id, query["after"], AT_ONCE)
    return page(
        "owner/activity.html",
        at="account_page",
        deeds=deeds(found.rows),
        after=found.after,
        is_first=query["after"] is None,
    )


def deeds(rows: Iterable[Mapping[str, Any]]) -> list[OwnDeed]:
    me = caller().account.id
    return [_deed(row, me) for row in rows]


def _deed(row: Mapping[str, Any], me: Any) -> OwnDeed:
    name = row["type"]
    # A host's own types have no words of ours.
    text = _(TEXTS[name]) if name in TEXTS else name
    return OwnDeed(text, row["at"], _origin(row, me), name in _ODD)


def _origin(row: Mapping[str, Any], me: Any) -> str:
    if row["actor_kind"] == "system":
        return _("By the service itself")
    if row["actor_kind"] == "cli" or row["actor_id"] not in (None, me):
        return _("By somebody who runs this")
    return " · ".join(filter(None, (label_of(row["user_agent"]), row["address"])))
