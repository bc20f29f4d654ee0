"""Changes of workspaces by administrators, who need not be members."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from ..accounts.models import Viewer
from ..core.coded_messages import CodedMessage
from ..core.db.transaction import transaction
from ..core.errors import Invalid
from ..workspaces.models import ACTIVE, OWNER, Member
from ..workspaces.service import Workspaces
from .rules import may_manage_roles
from .service import Administration

NOT_ACTIVE = CodedMessage("Not an active account.", "invalid_format", expected="active_account")


@dataclass(eq=False)
class WorkspaceAdministration:
    """The rules are those of accounts: an admin appoints no account with administrative rights, and
    deletes no workspace that such an account owns."""

    administration: Administration
    workspaces: Workspaces

    def appoint_owner(self, actor: Viewer, workspace_id: int, email: str) -> None:
        """Make an active account an owner, also one that is no member."""
        accounts = self.administration.accounts
        with transaction(accounts.session):
            account = self.administration.lock_other(actor, accounts.get(email).id)
            if not accounts.is_active(account):
                raise Invalid.about("email", NOT_ACTIVE)
            workspace = self.workspaces.by_id(workspace_id)
            self.workspaces.members.put(workspace, account.email, OWNER, ACTIVE)

    def delete(self, actor: Viewer, workspace_id: int, name: str) -> None:
        """Delete a workspace, if `name` is its name."""
        with transaction(self.administration.session):
            self.workspaces.members.lock(workspace_id)
            roles = self._roles_of_other_owners(actor, workspace_id)
            self.administration.check_actor(actor, "user", *roles)
            self.workspaces.delete_as_operator(workspace_id, name)

    def may_delete(self, actor: Viewer, workspace_id: int) -> bool:
        """Return whether the actor may delete this workspace, for the page with the form."""
        return may_manage_roles(actor.role, *self._roles_of_other_owners(actor, workspace_id))

    def _roles_of_other_owners(self, actor: Viewer, workspace_id: int) -> Sequence[str]:
        model = self.administration.accounts.model
        is_owner = (Member.workspace_id == workspace_id, Member.type == OWNER)
        ids = select(Member.account_id).where(*is_owner, Member.account_id != actor.id)
        query = select(model.role).distinct().where(model.id.in_(ids))
        return self.administration.session.scalars(query).all()
