"""Whom a workspace has invited, and inviting."""

import re
from collections.abc import Iterator

from flask import Response, request

from ...auth.decorators import active_account_required
from ...core.errors import Fault, Invalid
from ...core.web.operation import hidden
from ...workspaces import routes as workspaces_api
from ...workspaces.errors import AlreadyAMember
from ...workspaces.guards import active_member_required, current_member, workspace_roles_required
from ...workspaces.invitations.models import STATES
from ...workspaces.models import MANAGERS
from ...workspaces.routes import IN_PATH
from ..api_calls import ApiCall, calls_api, get_from_api
from ..texts import _, _n
from ..ways import Paging, go
from .room import room_page, types_to_give

PER_PAGE = 25
# Between the addresses that somebody types or pastes.
_BETWEEN = re.compile(r"[\s,;]+")


@active_account_required
@active_member_required(resolver=IN_PATH)
@workspace_roles_required(*MANAGERS, resolver=IN_PATH)
@hidden
def workspace_invitations_page(workspace_slug: str) -> Response:
    paging = Paging.asked(PER_PAGE)
    state = request.args.get("state", "")
    state = state if state in STATES else ""
    query = {**paging.query, "state": state} if state else paging.query
    found = get_from_api(
        workspaces_api.list_invitations, query=query, workspace_slug=workspace_slug
    )
    return room_page(
        "invitations.html",
        "invitations",
        invitations=[
            {**each, "is_managed": current_member.may_manage(each["type"])}
            for each in paging.shown(found)
        ],
        ways=paging.ways(found),
        state=state,
        states=STATES,
        types=types_to_give(),
    )


@calls_api(workspaces_api.invite, refused=workspace_invitations_page)
def send_invitations(call_api: ApiCall, workspace_slug: str) -> Response:
    typed = " ".join(request.form.getlist("emails"))
    emails = [each for each in _BETWEEN.split(typed) if each]
    message = request.form.get("message", "").replace("\r\n", "\n").strip()
    body = {"emails": emails, "type": request.form.get("type", ""), "message": message or None}
    try:
        invited = call_api(json=body)
    except AlreadyAMember as refused:
        present = ", ".join(refused.members["emails"])
        refused.faults = [
            Fault("json", "emails", _("Already in this workspace: {emails}", emails=present))
        ]
        raise
    except Invalid as refused:
        refused.faults = list(_named(refused.faults, emails))
        raise
    said = _n("One invitation sent.", "{n} invitations sent.", len(invited))
    return go(".workspace_invitations_page", said, workspace_slug=workspace_slug)


@calls_api(workspaces_api.resend_invitation, refused=workspace_invitations_page)
def resend_workspace_invitation(
    call_api: ApiCall, workspace_slug: str, invitation_id: int
) -> Response:
    said = _("Sent the invitation to {email} again.", email=call_api()["email"])
    return go(".workspace_invitations_page", said, workspace_slug=workspace_slug)


@calls_api(workspaces_api.revoke_invitation, refused=workspace_invitations_page)
def revoke_workspace_invitation(
    call_api: ApiCall, workspace_slug: str, invitation_id: int
) -> Response:
    said = _("Revoked the invitation to {email}.", email=call_api()["email"])
    return go(".workspace_invitations_page", said, workspace_slug=workspace_slug)


def _named(faults: list[Fault], emails: list[str]) -> Iterator[Fault]:
    """Which of the addresses it is, for who has typed them into one field."""
    for fault in faults:
        _field, _dot, place = fault.field.partition(".")
        if fault.field == "emails" and not emails:
            yield fault._replace(message=_("Enter at least one email address."))
        elif place.isdigit() and int(place) < len(emails):
            message = f"{emails[int(place)]}: {fault.message}"
            yield fault._replace(field="emails", message=message)
        else:
            yield fault
