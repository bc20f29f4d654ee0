"""Who is in a workspace, and as what."""

from flask import Response, request

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...core.context import service
from ...core.types import AccountKey
from ...core.web.operation import hidden
from ...workspaces import routes as workspaces_api
from ...workspaces.guards import (
    active_member_required,
    current_member,
    current_workspace,
    workspace_roles_required,
)
from ...workspaces.members import Members
from ...workspaces.models import ACTIVE, MANAGERS
from ...workspaces.routes import IN_PATH
from ..api_calls import ApiCall, calls_api, get_from_api
from ..desk import Desk
from ..texts import _
from ..ways import Paging, go
from .room import room_page, types_to_give

PER_PAGE = 25
_SUSPENDED = "suspended"


@active_account_required
@active_member_required(resolver=IN_PATH)
@hidden
def workspace_page(workspace_slug: str) -> Response:
    paging = Paging.asked(PER_PAGE)
    search = request.args.get("search", "").strip()[:320]
    query = {**paging.query, "search": search} if search else paging.query
    found = get_from_api(workspaces_api.list_members, query=query, workspace_slug=workspace_slug)
    members = paging.shown(found)
    # The ids as the rows have them, which JSON may write otherwise.
    own = str(caller().account.id)
    return room_page(
        "members.html",
        "members",
        members=[
            {
                **each,
                "is_own": str(each["account_id"]) == own,
                "is_managed": current_member.may_manage(each["type"]),
            }
            for each in members
        ],
        faces=service(Desk).persons.named(each["email"] for each in members),
        ways=paging.ways(found),
        search=search,
    )


@active_account_required
@active_member_required(resolver=IN_PATH)
@workspace_roles_required(*MANAGERS, resolver=IN_PATH)
@hidden
def member_page(workspace_slug: str, account_id: AccountKey) -> Response:
    shown = service(Members).get(current_workspace.id, account_id)
    status = shown.member.status
    return room_page(
        "member.html",
        "members",
        shown=shown,
        face=service(Desk).persons.named([shown.email])[shown.email],
        is_managed=current_member.may_manage(shown.member.type),
        is_own=account_id == current_member.account_id,
        types=types_to_give(),
        statuses=dict.fromkeys((ACTIVE, _SUSPENDED, status)),
    )


@calls_api(workspaces_api.update_member, refused=member_page)
def change_workspace_member(
    call_api: ApiCall, workspace_slug: str, account_id: AccountKey
) -> Response:
    changed = call_api()
    said = _("Changed {email}.", email=changed["email"])
    return go(".workspace_page", said, workspace_slug=workspace_slug)


@calls_api(workspaces_api.remove_member, refused=member_page)
def remove_workspace_member(
    call_api: ApiCall, workspace_slug: str, account_id: AccountKey
) -> Response:
    removed = call_api()
    said = _("Removed {email}.", email=removed["email"])
    return go(".workspace_page", said, workspace_slug=workspace_slug)
