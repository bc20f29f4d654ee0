"""What a workspace is called; leaving it, and its end."""

from __future__ import annotations

from flask import Response, request

from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...core.web.operation import hidden
from ...workspaces import routes as workspaces_api
from ...workspaces.guards import active_member_required, current_member
from ...workspaces.ownership import OWNER
from ...workspaces.routes import IN_PATH
from ..api_calls import ApiCall, calls_api
from ..texts import _
from ..ways import go
from .room import room_page


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
    return go(".workspaces_page", _("{name} is deleted.", name=gone["name"]))
