"""Invitations that the user received: the list, and the page of an emailed link."""

from typing import NamedTuple

from flask import Response, request

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.errors import InvalidProof
from ...auth.sessions import routes as sessions_api
from ...core.context import service
from ...core.errors import Invalid
from ...core.types import JsonObject
from ...core.web.operation import anyone
from ...workspaces.invitations import routes as invitations_api
from ...workspaces.invitations.received import ReceivedInvitations
from ...workspaces.invitations.schemas import AddressNotVerified
from ...workspaces.service import Workspaces
from ..api_calls import ApiCall, console_form, get_from_api, report
from ..links import redirect, redirect_to
from ..navigation import home_path
from ..pages import is_signed_in, render_page
from ..resources import ConsoleResources
from ..texts import _

MAX_LISTED = 100


@active_account_required
def received_invitations_page() -> Response:
    try:
        found = get_from_api(invitations_api.list_received_invitations, query={"limit": MAX_LISTED})
    except AddressNotVerified:
        found = None
    return render_page("workspaces/received.html", invitations=found, **_shown_with(*(found or ())))


@console_form(invitations_api.accept_received_invitation, page=received_invitations_page)
def accept_own_invitation(call_api: ApiCall, invitation_id: int) -> Response:
    return _redirect_joined(call_api())


@console_form(invitations_api.decline_received_invitation)
def decline_own_invitation(call_api: ApiCall, invitation_id: int) -> Response:
    call_api()
    return redirect_to(".received_invitations_page", _("Invitation declined."))


@anyone
def invitation_page() -> Response:
    """Show an emailed invitation. Email scanners open it too: only the buttons change anything."""
    token = request.values.get("token", "")
    try:
        shown = get_from_api(invitations_api.get_mailed_invitation, query={"token": token})
    except (InvalidProof, Invalid) as problem:
        report(problem)
        return render_page("workspaces/invitation_over.html", status=problem.status)
    return render_page(
        "workspaces/invitation.html",
        token=token,
        invitation=shown,
        **_shown_with(shown),
        is_addressee=is_signed_in() and _is_addressee(token),
        is_in=is_signed_in(),
    )


@console_form(invitations_api.accept_mailed_invitation, page=invitation_page)
def accept_invitation(call_api: ApiCall) -> Response:
    return _redirect_joined(call_api())


@console_form(invitations_api.decline_mailed_invitation, page=invitation_page)
def decline_invitation(call_api: ApiCall) -> Response:
    call_api()
    return render_page("workspaces/invitation_declined.html")


@console_form(sessions_api.close_cookie_session, page=invitation_page)
def answer_as_somebody_else(call_api: ApiCall) -> Response:
    """Sign out another account, and show the invitation again."""
    call_api()
    return redirect_to(".invitation_page", token=request.form.get("token", ""))


def _redirect_joined(member: JsonObject) -> Response:
    """Open the workspace that the member joined."""
    workspace = service(Workspaces).by_id(member["workspace_id"])
    text = _("You joined the workspace.")
    if not service(ConsoleResources).features.has(".workspace_page"):
        return redirect(home_path(), text)
    return redirect_to(".workspace_page", text, workspace_slug=workspace.slug)


class _Visitor(NamedTuple):
    id: None = None
    role: str = ""


def _shown_with(*invitations: JsonObject) -> JsonObject:
    """Return the logos of the workspaces, and the inviters as the reader may see them."""
    viewer = caller().account if is_signed_in() else _Visitor()
    emails = [each["inviter"] for each in invitations if each["inviter"]]
    return {
        "logos": service(Workspaces).logo_files(each["workspace"]["slug"] for each in invitations),
        "people": service(ConsoleResources).people.by_emails(emails, viewer) if emails else {},
    }


def _is_addressee(token: str) -> bool:
    return service(ReceivedInvitations).invited_address(token) == str(caller().account.email)
