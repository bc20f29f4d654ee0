"""The workspaces that somebody is in, and making one."""

from __future__ import annotations

from flask import Response

from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...core.web.operation import hidden
from ..actions import Perform, look, performs
from ..pages import page
from ..paging import Paging
from ..texts import _
from ..ways import go

PER_PAGE = 50


@active_account_required
@hidden
def workspaces_page() -> Response:
    paging = Paging.asked(PER_PAGE)
    found = look("workspaces.routes.list_workspaces", query=paging.query)
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


@performs("workspaces.routes.create_workspace", refused=new_workspace_page)
def make_workspace(perform: Perform) -> Response:
    made = perform()
    return go(
        ".workspace_page",
        _("{name} is made. Invite whoever belongs to it.", name=made["name"]),
        workspace_slug=made["slug"],
    )


@performs("workspaces.routes.switch_workspace", refused=workspaces_page)
def switch_workspace(perform: Perform) -> Response:
    entered = perform()
    return go(
        ".workspace_page",
        _("{name} is your current workspace.", name=entered["name"]),
        workspace_slug=entered["slug"],
    )
