"""Invitations to whoever reads: in the list of one's own, or by the link of a mail."""

from __future__ import annotations

from flask import Response, request

from ...auth.caller import caller
from ...auth.errors import InvalidProof
from ...auth.guards import active_account_required
from ...core.context import service
from ...core.errors import Invalid
from ...core.web.operation import anyone, hidden
from ...workspaces.invitations.errors import AddressNotProven
from ...workspaces.invitations.received import ReceivedInvitations
from ..actions import Perform, look, performs
from ..errors import tell
from ..pages import page, somebody_is_in
from ..texts import _
from ..ways import go

MOST = 100


@active_account_required
@hidden
def received_invitations_page() -> Response:
    try:
        found = look(
            "workspaces.invitations.routes.list_received_invitations", query={"limit": MOST}
        )
    except AddressNotProven:
        found = None
    return page("workspaces/received.html", invitations=found)


@performs(
    "workspaces.invitations.routes.accept_received_invitation", refused=received_invitations_page
)
def accept_own_invitation(perform: Perform, invitation_id: int) -> Response:
    perform()
    return go(".workspaces_page", _("You are in. The workspace is in this list."))


@performs("workspaces.invitations.routes.decline_received_invitation")
def decline_own_invitation(perform: Perform, invitation_id: int) -> Response:
    perform()
    return go(".received_invitations_page", _("The invitation is declined."))


@anyone
@hidden
def invitation_page() -> Response:
    """Mail scanners open it too: nothing is done before somebody presses."""
    token = request.values.get("token", "")
    try:
        shown = look("workspaces.invitations.routes.get_mailed_invitation", query={"token": token})
    except (InvalidProof, Invalid) as problem:
        tell(problem)
        return page("workspaces/invitation_over.html", status=problem.status)
    return page(
        "workspaces/invitation.html",
        token=token,
        invitation=shown,
        is_addressee=somebody_is_in() and _is_addressee(token),
        is_in=somebody_is_in(),
    )


@performs("workspaces.invitations.routes.accept_mailed_invitation", refused=invitation_page)
def accept_invitation(perform: Perform) -> Response:
    perform()
    return go(".workspaces_page", _("You are in. The workspace is in this list."))


@performs("workspaces.invitations.routes.decline_mailed_invitation", refused=invitation_page)
def decline_invitation(perform: Perform) -> Response:
    perform()
    return page("workspaces/invitation_declined.html")


@performs("auth.sessions.cookie_routes.close_cookie_session", refused=invitation_page)
def answer_as_somebody_else(perform: Perform) -> Response:
    """Whoever is signed in is not the one who is invited."""
    perform()
    return go(".invitation_page", token=request.form.get("token", ""))


def _is_addressee(token: str) -> bool:
    return service(ReceivedInvitations).invited_address(token) == str(caller().account.email)
