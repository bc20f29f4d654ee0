"""The workspaces that somebody is in, and making one."""

from __future__ import annotations

from flask import Response

from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...core.web.operation import hidden
from ...workspaces import routes as workspaces_api
from ..api_calls import ApiCall, calls_api, get_from_api
from ..pages import page
from ..texts import _
from ..ways import Paging, go

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
        _("{name} is made. Invite whoever belongs to it.", name=made["name"]),
        workspace_slug=made["slug"],
    )


@calls_api(workspaces_api.switch_workspace, refused=workspaces_page)
def switch_workspace(call_api: ApiCall) -> Response:
    entered = call_api()
    return go(
        ".workspace_page",
        _("{name} is your current workspace.", name=entered["name"]),
        workspace_slug=entered["slug"],
    )
