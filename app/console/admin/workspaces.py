"""The workspaces for admins: a list with search, and a page for each, where admins appoint an owner
and delete the workspace."""

from flask import Response, request

from ...accounts.search import MAX_CHECKED
from ...accounts.service import Accounts
from ...administration.workspaces import WorkspaceAdministration
from ...audit.service import AuditLog
from ...auth.caller import caller
from ...auth.decorators import fresh_factor_required
from ...core.context import current_frontdesk, service
from ...core.db.estimates import estimate
from ...core.web.fields import Text
from ...core.web.paging import Slice
from ...core.web.request_data import takes
from ...workspaces.directory import MAX_FOUND, MAX_MEMBERS, WorkspaceDirectory
from ...workspaces.errors import WorkspaceNotFound
from ...workspaces.invitations.models import PENDING
from ...workspaces.invitations.service import Invitations
from ...workspaces.members import Members
from ...workspaces.models import Workspace
from ..api_calls import console_form
from ..audit_rows import build_entry_rows
from ..links import Paging, redirect_to
from ..pages import render_page
from ..resources import ConsoleResources
from ..texts import _
from .filters import ListPosition, admins_only, is_first

AT = "managed_workspaces_page"
PER_PAGE = 50
MEMBERS, INVITATIONS, EVENTS = 25, 20, 10


class WorkspacesQuery(ListPosition):
    class Input(ListPosition.Input):
        search: str

    search = Text(max=320, load_default="", strip=True)


@admins_only
@takes(query=WorkspacesQuery)
def managed_workspaces_page(query: WorkspacesQuery.Input) -> Response:
    search = query["search"]
    found = service(WorkspaceDirectory).page(
        search, PER_PAGE, before=query["before"], after=query["after"]
    )
    return render_page(
        "admin/workspaces/list.html",
        rows=found.rows,
        search=search,
        total=found.total,
        max_total=MAX_FOUND,
        checked=MAX_CHECKED,
        all_workspaces=estimate(current_frontdesk.session, Workspace),
        max_members=MAX_MEMBERS,
        is_first=is_first(query),
        newer=found.before,
        older=found.after,
    )


@admins_only
def managed_workspace_page(workspace_id: int) -> Response:
    found = service(WorkspaceDirectory).get(workspace_id)
    if found is None:
        raise WorkspaceNotFound
    paging = Paging.from_request(MEMBERS)
    viewer = caller().account
    members = service(Members).page(workspace_id, viewer, **paging.query)
    invitations, features = service(Invitations), service(ConsoleResources).features
    shown = INVITATIONS + 1 if features.has(".workspace_invitations_page") else 0
    invited = invitations.page(workspace_id, 0, shown, PENDING) if shown else ()
    events = Slice([])
    if features.has(".admin_events_page"):
        events = service(AuditLog).of_workspace(workspace_id, {"limit": EVENTS})
    creator = found.workspace.creator_id
    return render_page(
        "admin/workspaces/one.html",
        at=AT,
        found=found,
        workspace=found.workspace,
        max_members=MAX_MEMBERS,
        creator=service(Accounts).by_id(creator) if creator is not None else None,
        members=paging.visible(members),
        people=service(ConsoleResources).people.by_emails((each.email for each in members), viewer),
        links=paging.links(members),
        invitations=invited[:INVITATIONS],
        may_delete=service(WorkspaceAdministration).may_delete(viewer, workspace_id),
        has_more_invitations=len(invited) > INVITATIONS,
        events=build_entry_rows(events.rows),
    )


@console_form(page=managed_workspace_page)
@admins_only
@fresh_factor_required
def appoint_workspace_owner(workspace_id: int) -> Response:
    # PostgreSQL accepts no NUL.
    email = request.form.get("email", "").replace("\0", "").strip()
    service(WorkspaceAdministration).appoint_owner(caller().account, workspace_id, email)
    text = _("{email} is now an owner.", email=email)
    return redirect_to(".managed_workspace_page", text, workspace_id=workspace_id)


@console_form(page=managed_workspace_page)
@admins_only
@fresh_factor_required
def delete_managed_workspace(workspace_id: int) -> Response:
    name = request.form.get("name", "").strip()
    service(WorkspaceAdministration).delete(caller().account, workspace_id, name)
    return redirect_to(f".{AT}", _("Deleted {name}.", name=name))
