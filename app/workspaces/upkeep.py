"""Another name or slug for a workspace, and its end."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from ..core.context import report_action
from ..core.db.transaction import AnySession, transaction
from ..core.errors import Invalid
from .actions import WORKSPACE_DELETED, WORKSPACE_UPDATED
from .errors import SlugTaken
from .lookup import Entry
from .members import Members
from .models import Member, Workspace
from .ownership import OWNER


@dataclass(eq=False)
class Upkeep:
    """The actor is the member who asks; every change holds the workspace's row."""

    session: AnySession
    members: Members

    def change(self, actor: Member, name: str | None, slug: str | None) -> Entry:
        """Links with the former slug lead nowhere from then on."""
        with transaction(self.session):
            manager = self.members.manager(actor)
            workspace = self.session.get_one(
                Workspace, manager.workspace_id, populate_existing=True
            )
            wanted = {"name": name or workspace.name, "slug": slug or workspace.slug}
            changed = [key for key, value in wanted.items() if value != getattr(workspace, key)]
            for key in changed:
                setattr(workspace, key, wanted[key])
            if changed:
                self._flush()
                report_action(
                    self.session, WORKSPACE_UPDATED, workspace_id=workspace.id, changed=changed
                )
            return Entry(workspace, manager)

    def delete(self, actor: Member, name: str | None = None) -> Entry:
        """With its members and invitations; only owners do. What a host keeps of it is up to the
        host's own keys."""
        with transaction(self.session):
            owner = self.members.manager(actor)
            self.members.allow(owner, OWNER)
            workspace = self.session.get_one(Workspace, owner.workspace_id)
            if name is not None and name != workspace.name:
                raise Invalid.about("name", "Not the workspace's name.")
            whose = {"account_id": owner.account_id, "workspace_id": workspace.id}
            report_action(self.session, WORKSPACE_DELETED, **whose)
            self.session.execute(
                delete(Workspace)
                .where(Workspace.id == workspace.id)
                .execution_options(synchronize_session=False)
            )
            self.session.expunge(owner)
            self.session.expunge(workspace)
            return Entry(workspace, owner)

    def _flush(self) -> None:
        """Two at once cannot take one slug: the second meets the unique index."""
        try:
            self.session.flush()
        except IntegrityError as error:
            if "slug" in str(error.orig):
                raise SlugTaken from None
            raise
