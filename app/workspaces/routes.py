from collections.abc import Sequence

from ..accounts.errors import AccountNotFound
from ..accounts.service import Accounts
from ..audit.schemas import OF_A_WORKSPACE, EntryPage, WorkspaceRecordRead
from ..audit.service import AuditLog
from ..auth.caller import caller
from ..auth.decorators import active_account_required, active_caller_required, fresh_required
from ..auth.errors import NotAuthorized
from ..auth.scopes import AUDIT_READ, MEMBERS_READ, MEMBERS_WRITE, WORKSPACES_READ, scope
from ..core.context import current_frontdesk, service
from ..core.errors import QuotaReached
from ..core.types import AccountKey
from ..core.web.blueprint import Blueprint
from ..core.web.fields import Page
from ..core.web.operation import View, example, raises, variables
from ..core.web.paging import Slice
from ..core.web.replicas import reads_replica
from ..core.web.request_data import takes
from ..core.web.responses import answers
from . import schemas
from .errors import (
    AlreadyAMember,
    LastOwner,
    MemberInactive,
    MemberNotFound,
    NotAMember,
    SlugTaken,
    TooManyWorkspaces,
    WorkspaceNotFound,
)
from .guards import (
    active_member_required,
    current_member,
    current_viewer,
    current_workspace,
    member_required,
    workspace_roles_required,
)
from .invitations.lookup import InvitationRow
from .invitations.schemas import (
    InvitationClosed,
    InvitationCreate,
    InvitationNotFound,
    InvitationPage,
    InvitationRead,
    TooManyInvitations,
)
from .invitations.service import Invitations
from .lookup import WorkspaceAccess
from .members import ListedMember, Members
from .models import MANAGERS, OWNER
from .resolvers import PathResolver
from .service import Workspaces
from .settings import WorkspacesSettings

blueprint = Blueprint("workspaces", __name__, needs=Accounts, about="Workspaces and their members")
# The application's default resolver is for its routes; here the slug is in the path.
IN_PATH = PathResolver()
slug_in_path = variables(workspace_slug="Slug of a workspace, or `current` or `default`.")


def members_only(view: View) -> View:
    return slug_in_path(active_account_required(active_member_required(resolver=IN_PATH)(view)))


def managers_only(view: View) -> View:
    return members_only(workspace_roles_required(*MANAGERS, resolver=IN_PATH)(view))


def members_or_token_only(view: View) -> View:
    """Also accept a token of the workspace."""
    return slug_in_path(active_caller_required(active_member_required(resolver=IN_PATH)(view)))


def managers_or_token_only(view: View) -> View:
    return members_or_token_only(workspace_roles_required(*MANAGERS, resolver=IN_PATH)(view))


@blueprint.get("")
@active_account_required
@scope(WORKSPACES_READ)
@example(answer=[schemas.TEAM_READ])
@takes(query=Page)
@answers(200, schemas.WorkspaceRead, paged=True)
def list_workspaces(query: Page.Input) -> Sequence[WorkspaceAccess]:
    """List the caller's workspaces"""
    return service(Workspaces).page(caller().account, **query)


@blueprint.post("")
@active_account_required
@example(json=schemas.TEAM, answer=schemas.TEAM_READ)
@raises(SlugTaken, QuotaReached, TooManyWorkspaces)
@takes(json=schemas.WorkspaceCreate)
@answers(200, schemas.WorkspaceRead)
def create_workspace(json: schemas.WorkspaceCreate.Input) -> WorkspaceAccess:
    """Create a workspace

    The caller becomes its owner.
    """
    return service(Workspaces).create(caller().account, **json)


@blueprint.put("/current")
@active_account_required
@example(json=schemas.SWITCH, answer=schemas.TEAM_READ)
@raises(WorkspaceNotFound, NotAMember, MemberInactive)
@takes(json=schemas.WorkspaceSwitch)
@answers(200, schemas.WorkspaceRead)
def switch_workspace(json: schemas.WorkspaceSwitch.Input) -> WorkspaceAccess:
    """Switch the current workspace"""
    return service(Workspaces).switch(caller().attached_account, json["slug"])


@blueprint.get("/<workspace_slug>")
@members_or_token_only
@scope(WORKSPACES_READ)
@example(answer=schemas.TEAM_READ)
@answers(200, schemas.WorkspaceRead)
def get_workspace(workspace_slug: str) -> WorkspaceAccess:
    """Get a workspace"""
    return WorkspaceAccess(current_workspace, current_member)


@blueprint.patch("/<workspace_slug>")
@managers_only
@example(json=schemas.TEAM, answer=schemas.TEAM_READ)
@raises(SlugTaken)
@takes(json=schemas.WorkspaceChange)
@answers(200, schemas.WorkspaceRead)
def change_workspace(workspace_slug: str, json: schemas.WorkspaceChange.Input) -> WorkspaceAccess:
    """Change a workspace's name or slug"""
    return service(Workspaces).update(current_member, json.get("name"), json.get("slug"))


@blueprint.delete("/<workspace_slug>")
@members_only
@workspace_roles_required(OWNER, resolver=IN_PATH)
@fresh_required()
@example(answer=schemas.TEAM_READ)
@takes(query=schemas.WorkspaceEnd)
@answers(200, schemas.WorkspaceRead)
def delete_workspace(workspace_slug: str, query: schemas.WorkspaceEnd.Input) -> WorkspaceAccess:
    """Delete a workspace with its members and invitations, as an owner

    Requires a recent sign-in.
    """
    return service(Workspaces).delete(current_member, query["name"])


@blueprint.get("/<workspace_slug>/members")
@members_or_token_only
@scope(MEMBERS_READ)
@example(answer=[schemas.GRACE_READ])
@takes(query=schemas.MemberPage)
@reads_replica
@answers(200, schemas.MemberRead, paged=True)
def list_members(workspace_slug: str, query: schemas.MemberPage.Input) -> Sequence[ListedMember]:
    """List or search a workspace's members"""
    return service(Members).page(current_workspace.id, current_viewer(), **query)


@blueprint.post("/<workspace_slug>/members")
@managers_only
@scope(MEMBERS_WRITE)
@example(json=schemas.GRACE, answer=schemas.ADDED)
@raises(AccountNotFound, AlreadyAMember, QuotaReached, TooManyInvitations)
@takes(json=schemas.MemberCreate)
@answers(200, schemas.AddedRead)
def add_member(workspace_slug: str, json: schemas.MemberCreate.Input) -> ListedMember:
    """Invite a member by email address, or add an account directly if the settings allow it"""
    if current_frontdesk.settings.of(WorkspacesSettings).ADDING == "direct":
        return service(Members).add(current_member, json["email"], json["type"], json["status"])
    emails = {"email": json["email"]}
    [invited] = service(Invitations).invite(current_member, emails, json["type"])
    return invited.as_member()


@blueprint.patch("/<workspace_slug>/members/<account_id:account_id>")
@managers_or_token_only
@scope(MEMBERS_WRITE)
@example(json=schemas.PROMOTE, answer=schemas.GRACE_PROMOTED)
@raises(MemberNotFound, LastOwner)
@takes(json=schemas.MemberUpdate)
@answers(200, schemas.MemberRead)
def update_member(
    workspace_slug: str, account_id: AccountKey, json: schemas.MemberUpdate.Input
) -> ListedMember:
    """Update a member's role or status

    Only owners can change owners.
    """
    return service(Members).update(current_member, account_id, json.get("type"), json.get("status"))


@blueprint.delete("/<workspace_slug>/members/<account_id:account_id>")
@slug_in_path
@active_caller_required
@member_required(resolver=IN_PATH)
@scope(MEMBERS_WRITE)
@example(answer=schemas.GRACE_READ)
@raises(MemberNotFound, LastOwner, MemberInactive, NotAuthorized)
@answers(200, schemas.MemberRead)
def remove_member(workspace_slug: str, account_id: AccountKey) -> ListedMember:
    """Remove a member, or leave a workspace

    Only owners can remove owners. The last owner cannot leave.
    """
    return service(Members).remove(current_member, account_id)


@blueprint.get("/<workspace_slug>/invitations")
@managers_only
@scope(MEMBERS_READ)
@example(answer=[schemas.INVITED])
@takes(query=InvitationPage)
@answers(200, InvitationRead, paged=True)
def list_invitations(workspace_slug: str, query: InvitationPage.Input) -> Sequence[InvitationRow]:
    """List a workspace's invitations, newest first"""
    return service(Invitations).page(current_workspace.id, **query)


@blueprint.post("/<workspace_slug>/invitations")
@managers_only
@scope(MEMBERS_WRITE)
@example(json=schemas.INVITE, answer=[schemas.INVITED])
@raises(AlreadyAMember, QuotaReached, TooManyInvitations)
@takes(json=InvitationCreate)
@answers(201, InvitationRead, many=True)
def invite(workspace_slug: str, json: InvitationCreate.Input) -> Sequence[InvitationRow]:
    """Invite email addresses to a workspace

    Only owners can invite owners.
    """
    # The keys are the fields for error messages.
    emails = {f"emails.{index}": email for index, email in enumerate(json.get("emails", ()))}
    if "email" in json:
        emails = {"email": json["email"]}
    return service(Invitations).invite(current_member, emails, json["type"], json["message"])


@blueprint.post("/<workspace_slug>/invitations/<row_id:invitation_id>/resend")
@managers_only
@scope(MEMBERS_WRITE)
@example(answer=schemas.INVITED)
@raises(InvitationNotFound, InvitationClosed, QuotaReached, TooManyInvitations)
@answers(200, InvitationRead)
def resend_invitation(workspace_slug: str, invitation_id: int) -> InvitationRow:
    """Send an invitation again, which extends its expiry"""
    return service(Invitations).resend(current_member, invitation_id)


@blueprint.delete("/<workspace_slug>/invitations/<row_id:invitation_id>")
@managers_only
@scope(MEMBERS_WRITE)
@example(answer={**schemas.INVITED, "state": "revoked"})
@raises(InvitationNotFound, InvitationClosed)
@answers(200, InvitationRead)
def revoke_invitation(workspace_slug: str, invitation_id: int) -> InvitationRow:
    """Revoke an invitation"""
    return service(Invitations).revoke(current_member, invitation_id)


@blueprint.get("/<workspace_slug>/events")
@managers_or_token_only
@scope(AUDIT_READ)
@example(answer=[OF_A_WORKSPACE])
@takes(query=EntryPage)
@reads_replica
@answers(200, WorkspaceRecordRead, sliced=True, ready=True)
def list_workspace_events(workspace_slug: str, query: EntryPage.Input) -> Slice:
    """List a workspace's audit log, the newest first"""
    return service(AuditLog).of_workspace(current_workspace.id, query)
