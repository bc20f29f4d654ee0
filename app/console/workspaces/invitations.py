"""The invitations of a workspace, and the form to invite."""

import re
from collections.abc import Iterator

from flask import Response, request
from markupsafe import Markup

from ...core.errors import Fault, Invalid
from ...workspaces import routes as workspaces_api
from ...workspaces.errors import AlreadyAMember
from ...workspaces.guards import current_member
from ...workspaces.invitations.models import STATES
from ...workspaces.invitations.schemas import MAX_AT_ONCE
from ..api_calls import ApiCall, console_form, get_from_api
from ..error_texts import field_error
from ..links import Paging, redirect_to
from ..texts import _, _n
from .layout import assignable_types, managers_only, render_workspace_page

PER_PAGE = 25
# Separators between entered or pasted email addresses: also a space, but only before an address, so
# that other text stays together in the error.
_SEPARATORS = re.compile(r"[,;\n]+|\s+(?=[^\s,;]*@)")


@managers_only
def workspace_invitations_page(workspace_slug: str) -> Response:
    paging = Paging.from_request(PER_PAGE)
    state = request.args.get("state", "")
    state = state if state in STATES else ""
    query = {**paging.query, "state": state} if state else paging.query
    found = get_from_api(
        workspaces_api.list_invitations, query=query, workspace_slug=workspace_slug
    )
    return render_workspace_page(
        "invitations.html",
        "invitations",
        invitations=[
            {**each, "is_managed": current_member.may_manage(each["type"])}
            for each in paging.visible(found)
        ],
        links=paging.links(found),
        state=state,
        states=STATES,
        types=assignable_types(),
    )


@console_form(workspaces_api.invite, page=workspace_invitations_page)
def send_invitations(call_api: ApiCall, workspace_slug: str) -> Response:
    entered = "\n".join(request.form.getlist("emails"))
    emails = [each.strip() for each in _SEPARATORS.split(entered) if each.strip()]
    message = request.form.get("message", "").replace("\r\n", "\n").strip()
    body = {"emails": emails, "type": request.form.get("type", ""), "message": message or None}
    try:
        invited = call_api(json=body)
    except AlreadyAMember as problem:
        present = ", ".join(problem.members["emails"])
        problem.faults = [
            Fault("json", "emails", _("Already in this workspace: {emails}", emails=present))
        ]
        raise
    except Invalid as problem:
        problem.faults = list(_name_addresses(problem.faults, emails))
        raise
    text = _n("One invitation sent.", "{n} invitations sent.", len(invited))
    return redirect_to(".workspace_invitations_page", text, workspace_slug=workspace_slug)


@console_form(workspaces_api.resend_invitation, page=workspace_invitations_page)
def resend_workspace_invitation(
    call_api: ApiCall, workspace_slug: str, invitation_id: int
) -> Response:
    text = _("Sent the invitation to {email} again.", email=call_api()["email"])
    return redirect_to(".workspace_invitations_page", text, workspace_slug=workspace_slug)


@console_form(workspaces_api.revoke_invitation, page=workspace_invitations_page)
def revoke_workspace_invitation(
    call_api: ApiCall, workspace_slug: str, invitation_id: int
) -> Response:
    text = _("Revoked the invitation to {email}.", email=call_api()["email"])
    return redirect_to(".workspace_invitations_page", text, workspace_slug=workspace_slug)


def _name_addresses(faults: list[Fault], emails: list[str]) -> Iterator[Fault]:
    """Yield the errors with the email address that each is about: all are in one field."""
    for fault in faults:
        _field, _dot, place = fault.field.partition(".")
        if fault.field == "emails":
            text = _("Enter 1 to {n} email addresses.", n=MAX_AT_ONCE)
            yield fault._replace(message=text)
        elif place.isdigit() and int(place) < len(emails):
            message = Markup("{}: {}").format(emails[int(place)], field_error(fault))
            yield fault._replace(field="emails", message=message)
        else:
            yield fault
