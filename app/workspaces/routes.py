from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..accounts.errors import AccountNotFound
from ..accounts.needs import accounts_needed
from ..auth.errors import NotAuthorized
from ..auth.guards import active_account_required, caller, load_account
from ..core.desk import service
from ..core.http.answering import answers
from ..core.http.blueprint import Blueprint
from ..core.http.fields import Page
from ..core.http.operation import example, raises
from ..core.http.reading import takes
from .errors import (
    AlreadyAMember,
    LastOwner,
    MemberInactive,
    MemberNotFound,
    NotAMember,
    SlugTaken,
    WorkspaceNotFound,
)
from .guards import (
    active_member_required,
    current_member,
    current_workspace,
    member_required,
    workspace_roles_required,
)
from .lookup import Entry
from .members import Listed, Members
from .resolvers import PathResolver
from .rules import MANAGERS
from .schemas import (
    MemberCreate,
    MemberRead,
    MemberUpdate,
    WorkspaceCreate,
    WorkspaceRead,
    WorkspaceSwitch,
)
from .service import Workspaces

TEAM = {"name": "Gardeners", "slug": "gardeners"}
TEAM_READ = {
    "id": 7,
    **TEAM,
    "is_default": False,
    "created_at": "2030-01-01T12:00:00+00:00",
    "type": "owner",
    "status": "active",
}
GRACE = {"email": "grace@example.com", "type": "member", "status": "active"}
GRACE_READ = {
    "id": 12,
    "workspace_id": 7,
    "account_id": 3,
    **GRACE,
    "created_at": "2030-01-01T12:00:00+00:00",
}


blueprint = Blueprint("workspaces", __name__, needs=(accounts_needed,))
# A host's own default resolver is for the host's routes; here the slug stands in the path.
IN_PATH = PathResolver()


@blueprint.get("")
@active_account_required
@example(answer=[TEAM_READ])
@takes(query=Page)
@answers(200, WorkspaceRead, many=True)
def list_workspaces(query: dict[str, Any]) -> Sequence[Entry]:
    """List the caller's workspaces"""
    return service(Workspaces).page(caller(), **query)


@blueprint.post("")
@active_account_required
@example(json=TEAM, answer=TEAM_READ)
@raises(SlugTaken)
@takes(json=WorkspaceCreate)
@answers(200, WorkspaceRead)
def create_workspace(json: dict[str, Any]) -> Entry:
    """Create a workspace that the caller owns"""
    return service(Workspaces).create(caller(), **json)


@blueprint.put("/current")
@active_account_required
@example(json={"slug": "gardeners"}, answer=TEAM_READ)
@raises(WorkspaceNotFound, NotAMember, MemberInactive)
@takes(json=WorkspaceSwitch)
@answers(200, WorkspaceRead)
def switch_workspace(json: dict[str, Any]) -> Entry:
    """Make another workspace the current one"""
    return service(Workspaces).switch(load_account(), json["slug"])


@blueprint.get("/<workspace_slug>")
@active_account_required
@active_member_required(resolver=IN_PATH)
@example(answer=TEAM_READ)
@answers(200, WorkspaceRead)
def read_workspace(workspace_slug: str) -> Entry:
    """Read a workspace of the caller's"""
    return Entry(current_workspace, current_member)


@blueprint.get("/<workspace_slug>/members")
@active_account_required
@active_member_required(resolver=IN_PATH)
@example(answer=[GRACE_READ])
@takes(query=Page)
@answers(200, MemberRead, many=True)
def list_members(workspace_slug: str, query: dict[str, Any]) -> Sequence[Listed]:
    """List a workspace's members"""
    return service(Members).page(current_workspace.id, **query)


@blueprint.post("/<workspace_slug>/members")
@active_account_required
@active_member_required(resolver=IN_PATH)
@workspace_roles_required(*MANAGERS, resolver=IN_PATH)
@example(json=GRACE, answer=GRACE_READ)
@raises(AccountNotFound, AlreadyAMember)
@takes(json=MemberCreate)
@answers(200, MemberRead)
def add_member(workspace_slug: str, json: dict[str, Any]) -> Listed:
    """Make an account a member, by its email; only owners make owners"""
    return service(Members).add(current_member, json["email"], json["type"], json["status"])


@blueprint.patch("/<workspace_slug>/members/<row_id:account_id>")
@active_account_required
@active_member_required(resolver=IN_PATH)
@workspace_roles_required(*MANAGERS, resolver=IN_PATH)
@example(json={"type": "admin"}, answer={**GRACE_READ, "type": "admin"})
@raises(MemberNotFound, LastOwner)
@takes(json=MemberUpdate)
@answers(200, MemberRead)
def change_member(workspace_slug: str, account_id: int, json: dict[str, Any]) -> Listed:
    """Change a member's type or status; only owners change owners"""
    return service(Members).change(current_member, account_id, json.get("type"), json.get("status"))


@blueprint.delete("/<workspace_slug>/members/<row_id:account_id>")
@active_account_required
@member_required(resolver=IN_PATH)
@example(answer=GRACE_READ)
@raises(MemberNotFound, LastOwner, MemberInactive, NotAuthorized)
@answers(200, MemberRead)
def remove_member(workspace_slug: str, account_id: int) -> Listed:
    """Remove a member, or leave"""
    return service(Members).remove(current_member, account_id)
