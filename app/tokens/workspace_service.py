"""Creates, lists and ends the tokens of workspaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, select, update

from ..accounts.service import Accounts
from ..auth.caller import Caller, lock_caller
from ..auth.errors import InactiveCaller
from ..core.clock import Clock
from ..core.context import report_action
from ..core.db.transaction import AnySession, execute_bulk, transaction
from ..core.limits import has_rows
from ..workspaces.members import Members
from ..workspaces.models import Member
from .actions import WORKSPACE_TOKEN_CREATED, WORKSPACE_TOKEN_ENDED
from .errors import TooManyTokens, WorkspaceTokenNotFound
from .format import WORKSPACE
from .models import WorkspaceToken
from .schemas import WorkspaceTokenCreate
from .stored import MAX_TOKENS, ShownToken, is_valid, new_values, read_shown, shown_columns, target


@dataclass(eq=False)
class WorkspaceTokens:
    """The actor is the member of the request. Every change locks the workspace, as those of members
    do: a token that was ended changes nothing more."""

    session: AnySession
    accounts: Accounts
    members: Members
    clock: Clock
    # The descriptions of all scopes by name.
    scopes: Mapping[str, str]

    def list(self, workspace_id: int) -> Sequence[ShownToken]:
        """Return the valid tokens of a workspace, the newest first."""
        return self._shown(*self._valid(workspace_id))

    def create(
        self, caller: Caller, actor: Member, given: WorkspaceTokenCreate.Input
    ) -> ShownToken:
        """Create a token that acts as a member of a type that the actor may manage.

        The caller's account is locked too: what ends the sign-in also prevents the creation.
        """
        text, values = new_values(WORKSPACE, given, self.scopes, self.clock.now())
        with transaction(self.session) as session:
            if not self.accounts.is_active(lock_caller(self.accounts, caller)):
                raise InactiveCaller
            self.members.check_may_manage(self.members.manager(actor), given["type"])
            workspace_id = actor.workspace_id
            if has_rows(session, WorkspaceToken, MAX_TOKENS, *self._valid(workspace_id)):
                raise TooManyTokens
            token = WorkspaceToken(workspace_id=workspace_id, type=given["type"], **values)
            session.add(token)
            session.flush()
            report_action(
                session,
                WORKSPACE_TOKEN_CREATED,
                workspace_id=workspace_id,
                target=target(WorkspaceToken, token.id),
                name=token.name,
                type=token.type,
                scopes=token.scopes.split(),
                expires_at=token.expires_at,
            )
            [shown] = self._shown(WorkspaceToken.id == token.id)
            return shown._replace(token=text)

    def end(self, actor: Member, token_id: int) -> ShownToken:
        """End a token and return it."""
        with transaction(self.session) as session:
            workspace_id = self.members.manager(actor).workspace_id
            is_this = WorkspaceToken.id == token_id
            shown = self._shown(is_this, *self._valid(workspace_id))
            if not shown:
                raise WorkspaceTokenNotFound
            ending = update(WorkspaceToken).where(is_this).values(ended_at=self.clock.now())
            execute_bulk(session, ending)
            report_action(
                session,
                WORKSPACE_TOKEN_ENDED,
                workspace_id=workspace_id,
                target=target(WorkspaceToken, token_id),
                name=shown[0].name,
            )
            return shown[0]

    def _valid(self, workspace_id: int) -> tuple[ColumnElement[bool], ...]:
        of_workspace = WorkspaceToken.workspace_id == workspace_id
        return of_workspace, *is_valid(WorkspaceToken, self.clock.now())

    def _shown(self, *which: ColumnElement[bool]) -> Sequence[ShownToken]:
        columns = select(*shown_columns(WorkspaceToken), WorkspaceToken.type)
        newest = columns.where(*which).order_by(WorkspaceToken.id.desc())
        return [read_shown(row) for row in self.session.execute(newest)]
