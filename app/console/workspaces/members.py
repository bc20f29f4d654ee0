"""The members of a workspace and their roles."""

from flask import Response, request

from ...accounts.models import AccountLike
from ...auth.caller import caller
from ...core.context import service
from ...core.db.estimates import Estimate
from ...core.types import AccountKey
from ...core.web.replicas import reads_replica
from ...workspaces import routes as workspaces_api
from ...workspaces.guards import current_member, current_workspace
from ...workspaces.members import Members
from ...workspaces.models import ACTIVE
from ...workspaces.ownership import Ownership
from ..api_calls import ApiCall, console_form, get_from_api
from ..links import Paging, redirect_to
from ..resources import ConsoleResources
from ..texts import _
from .layout import assignable_types, managers_only, members_only, render_workspace_page

PER_PAGE = 25
_SUSPENDED = "suspended"


@members_only
def workspace_page(workspace_slug: str) -> Response:
    paging = Paging.from_request(PER_PAGE)
    search = request.args.get("search", "").strip()[:320]
    query = {**paging.query, "search": search} if search else paging.query
    found = get_from_api(workspaces_api.list_members, query=query, workspace_slug=workspace_slug)
    members = paging.visible(found)
    links = paging.links(found)
    viewer = caller().account
    # Ids are compared as text, because JSON may contain them in another type.
    own_id = str(viewer.id)
    return render_workspace_page(
        "members.html",
        "members",
        members=[
            {
                **each,
                "is_own": str(each["account_id"]) == own_id,
                "is_managed": current_member.may_manage(each["type"]),
            }
            for each in members
        ],
        people=service(ConsoleResources).people.by_emails(
            (each["email"] for each in members), viewer
        ),
        links=links,
        total=_total(viewer, search) if links.newer or links.older else None,
        search=search,
    )


@reads_replica
def _total(viewer: AccountLike, search: str) -> Estimate | None:
    return service(Members).count(current_workspace.id, viewer, search or None)


@managers_only
def member_page(workspace_slug: str, account_id: AccountKey) -> Response:
    shown = service(Members).get(current_workspace.id, account_id)
    status, people = shown.member.status, service(ConsoleResources).people
    return render_workspace_page(
        "member.html",
        "members",
        shown=shown,
        person=people.by_emails([shown.email], caller().account)[shown.email],
        is_managed=current_member.may_manage(shown.member.type),
        is_last_owner=service(Ownership).is_last_owner(shown.member),
        is_own=account_id == current_member.account_id,
        types=assignable_types(),
        statuses=dict.fromkeys((ACTIVE, _SUSPENDED, status)),
    )


@console_form(workspaces_api.update_member, page=member_page)
def change_workspace_member(
    call_api: ApiCall, workspace_slug: str, account_id: AccountKey
) -> Response:
    changed = call_api()
    text = _("Changed {email}.", email=changed["email"])
    return redirect_to(".workspace_page", text, workspace_slug=workspace_slug)


@console_form(workspaces_api.remove_member, page=member_page)
def remove_workspace_member(
    call_api: ApiCall, workspace_slug: str, account_id: AccountKey
) -> Response:
    removed = call_api()
    text = _("Removed {email}.", email=removed["email"])
    return redirect_to(".workspace_page", text, workspace_slug=workspace_slug)
