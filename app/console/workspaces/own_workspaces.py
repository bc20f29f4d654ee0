"""The workspaces of a user: the list, a new one, its settings, leaving it, and deleting it."""

from flask import Response, request

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...core.context import service
from ...workspaces import routes as workspaces_api
from ...workspaces.guards import current_member
from ...workspaces.models import OWNER
from ...workspaces.ownership import Ownership
from ...workspaces.service import Workspaces
from ..api_calls import ApiCall, console_form, get_from_api
from ..links import Paging, redirect_to
from ..pages import render_page
from ..people import has_pictures
from ..texts import _
from .layout import members_only, render_workspace_page

PER_PAGE = 50


@active_account_required
def workspaces_page() -> Response:
    paging = Paging.from_request(PER_PAGE)
    found = get_from_api(workspaces_api.list_workspaces, query=paging.query)
    return render_page(
        "workspaces/mine.html",
        workspaces=paging.visible(found),
        links=paging.links(found),
        current_id=caller().account.current_workspace_id,
        logos=service(Workspaces).logo_files(each["slug"] for each in found),
    )


@active_account_required
def new_workspace_page() -> Response:
    return render_page("workspaces/new.html", at="workspaces_page")


@console_form(workspaces_api.create_workspace, page=new_workspace_page)
def make_workspace(call_api: ApiCall) -> Response:
    created = call_api()
    return redirect_to(
        ".workspace_page",
        _("Created {name}. Invite your team.", name=created["name"]),
        workspace_slug=created["slug"],
    )


@console_form(workspaces_api.switch_workspace, page=workspaces_page)
def switch_workspace(call_api: ApiCall) -> Response:
    workspace = call_api()
    return redirect_to(
        ".workspace_page",
        _("{name} is now your current workspace.", name=workspace["name"]),
        workspace_slug=workspace["slug"],
    )


@members_only
def workspace_settings_page(workspace_slug: str) -> Response:
    return render_workspace_page(
        "settings.html",
        "settings",
        is_owner=current_member.type == OWNER,
        is_last_owner=service(Ownership).is_last_owner(current_member),
        has_logos=has_pictures(),
    )


@console_form(workspaces_api.change_workspace, page=workspace_settings_page)
def change_workspace_settings(call_api: ApiCall, workspace_slug: str) -> Response:
    changed = call_api()
    text = _("Saved.")
    return redirect_to(".workspace_settings_page", text, workspace_slug=changed["slug"])


@console_form(workspaces_api.remove_member, page=workspace_settings_page)
def leave_workspace(call_api: ApiCall, workspace_slug: str) -> Response:
    call_api(account_id=caller().account.id)
    return redirect_to(".workspaces_page", _("You have left the workspace."))


@console_form(workspaces_api.delete_workspace, page=workspace_settings_page)
def delete_own_workspace(call_api: ApiCall, workspace_slug: str) -> Response:
    deleted = call_api(query={"name": request.form.get("name", "").strip()})
    return redirect_to(".workspaces_page", _("Deleted {name}.", name=deleted["name"]))
