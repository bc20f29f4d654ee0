"""Invitations to whoever reads: in the list of one's own, or by the link of a mail."""

from flask import Response, request

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.errors import InvalidProof
from ...auth.sessions import routes as sessions_api
from ...core.context import service
from ...core.errors import Invalid
from ...core.web.operation import anyone, hidden
from ...workspaces.invitations import routes as invitations_api
from ...workspaces.invitations.received import ReceivedInvitations
from ...workspaces.invitations.schemas import AddressNotVerified
from ..api_calls import ApiCall, calls_api, get_from_api, report
from ..pages import page, somebody_is_in
from ..texts import _
from ..ways import go

MOST = 100


@active_account_required
@hidden
def received_invitations_page() -> Response:
    try:
        found = get_from_api(invitations_api.list_received_invitations, query={"limit": MOST})
    except AddressNotVerified:
        found = None
    return page("workspaces/received.html", invitations=found)


@calls_api(invitations_api.accept_received_invitation, refused=received_invitations_page)
def accept_own_invitation(call_api: ApiCall, invitation_id: int) -> Response:
    call_api()
    return go(".workspaces_page", _("You joined the workspace."))


@calls_api(invitations_api.decline_received_invitation)
def decline_own_invitation(call_api: ApiCall, invitation_id: int) -> Response:
    call_api()
    return go(".received_invitations_page", _("Invitation declined."))


@anyone
@hidden
def invitation_page() -> Response:
    """Mail scanners open it too: nothing is done before somebody presses."""
    token = request.values.get("token", "")
    try:
        shown = get_from_api(invitations_api.get_mailed_invitation, query={"token": token})
    except (InvalidProof, Invalid) as problem:
        report(problem)
        return page("workspaces/invitation_over.html", status=problem.status)
    return page(
        "workspaces/invitation.html",
        token=token,
        invitation=shown,
        is_addressee=somebody_is_in() and _is_addressee(token),
        is_in=somebody_is_in(),
    )


@calls_api(invitations_api.accept_mailed_invitation, refused=invitation_page)
def accept_invitation(call_api: ApiCall) -> Response:
    call_api()
    return go(".workspaces_page", _("You joined the workspace."))


@calls_api(invitations_api.decline_mailed_invitation, refused=invitation_page)
def decline_invitation(call_api: ApiCall) -> Response:
    call_api()
    return page("workspaces/invitation_declined.html")


@calls_api(sessions_api.close_cookie_session, refused=invitation_page)
def answer_as_somebody_else(call_api: ApiCall) -> Response:
    """Whoever is signed in is not the one who is invited."""
    call_api()
    return go(".invitation_page", token=request.form.get("token", ""))


def _is_addressee(token: str) -> bool:
    return service(ReceivedInvitations).invited_address(token) == str(caller().account.email)
