"""The workspaces of a user: the list, a new one, its settings, leaving it, and deleting it."""

from flask import Response, request

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...core.web.operation import hidden
from ...workspaces import routes as workspaces_api
from ...workspaces.guards import active_member_required, current_member
from ...workspaces.models import OWNER
from ...workspaces.routes import IN_PATH
from ..api_calls import ApiCall, calls_api, get_from_api
from ..pages import page
from ..texts import _
from ..ways import Paging, go
from .room import room_page

PER_PAGE = 50


@active_account_required
@hidden
def workspaces_page() -> Response:
    paging = Paging.asked(PER_PAGE)
    found = get_from_api(workspaces_api.list_workspaces, query=paging.query)
    return page(
        "workspaces/mine.html",
        workspaces=paging.shown(found),
        ways=paging.ways(found),
        current_id=caller().account.current_workspace_id,
    )


@active_account_required
@hidden
def new_workspace_page() -> Response:
    return page("workspaces/new.html", at="workspaces_page")


@calls_api(workspaces_api.create_workspace, refused=new_workspace_page)
def make_workspace(call_api: ApiCall) -> Response:
    made = call_api()
    return go(
        ".workspace_page",
        _("Created {name}. Invite your team.", name=made["name"]),
        workspace_slug=made["slug"],
    )


@calls_api(workspaces_api.switch_workspace, refused=workspaces_page)
def switch_workspace(call_api: ApiCall) -> Response:
    entered = call_api()
    return go(
        ".workspace_page",
        _("{name} is now your current workspace.", name=entered["name"]),
        workspace_slug=entered["slug"],
    )


@active_account_required
@active_member_required(resolver=IN_PATH)
@hidden
def workspace_settings_page(workspace_slug: str) -> Response:
    return room_page("settings.html", "settings", owns=current_member.type == OWNER)


@calls_api(workspaces_api.change_workspace, refused=workspace_settings_page)
def change_workspace_settings(call_api: ApiCall, workspace_slug: str) -> Response:
    changed = call_api()
    said = _("Saved.")
    return go(".workspace_settings_page", said, workspace_slug=changed["slug"])


@calls_api(workspaces_api.remove_member, refused=workspace_settings_page)
def leave_workspace(call_api: ApiCall, workspace_slug: str) -> Response:
    call_api(account_id=caller().account.id)
    return go(".workspaces_page", _("You have left the workspace."))


@calls_api(workspaces_api.delete_workspace, refused=workspace_settings_page)
def delete_own_workspace(call_api: ApiCall, workspace_slug: str) -> Response:
    gone = call_api(query={"name": request.form.get("name", "").strip()})
    return go(".workspaces_page", _("Deleted {name}.", name=gone["name"]))
