"""The services of personal tokens and of workspace tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, select, update

from ..auth.caller import Caller
from ..core.coded_messages import CodedMessage
from ..core.context import report_action
from ..core.db.transaction import (
    AnySession,
    after_commit,
    execute_bulk,
    extended_timeout,
    transaction,
    write_last,
)
from ..core.errors import Invalid
from ..core.types import AccountKey
from ..workspaces.members import Members
from ..workspaces.models import ACTIVE, Member, Workspace
from . import actions
from .emails import CREATED, TokenMails
from .errors import PersonalTokenNotFound, WorkspaceTokenNotFound
from .format import PERSONAL, WORKSPACE
from .models import PersonalToken, WorkspaceToken
from .schemas import PersonalTokenCreate, WorkspaceTokenCreate
from .stored import ShownToken, StoredTokens, TokenKind, is_valid

REMINDER = timedelta(days=7)

# Why tokens ended.
BY_OWNER, BY_OPERATOR, BY_RECLAIM = "owner", "operator", "reclaim"
BY_PASSWORD_RESET, BY_SUSPENSION = "password_reset", "suspension"
BY_DELETION = "deletion"

NO_MEMBERSHIP = CodedMessage("Not a workspace with an active membership.", "not_found")


@dataclass(eq=False)
class PersonalTokens(StoredTokens):
    """The tokens of accounts."""

    mails: TokenMails

    kind = TokenKind(
        PersonalToken,
        PERSONAL,
        "account_id",
        actions.PERSONAL_TOKEN_CREATED,
        actions.PERSONAL_TOKEN_ENDED,
        PersonalTokenNotFound,
    )

    def create(self, caller: Caller, given: PersonalTokenCreate.Input) -> ShownToken:
        """Create a token of the caller's account, and email its owner.

        The account stays locked: what ends the tokens of the account also ends this one.
        """
        remind_at = self.clock.now() + timedelta(days=given["days"]) - REMINDER
        with transaction(self.session) as session:
            account = self.lock_active(caller)
            columns = {
                "account_id": account.id,
                "workspace_id": self._workspace_id(account.id, given["workspace"]),
                "remind_at": remind_at if given["days"] > REMINDER.days else None,
            }
            shown = self.insert(given, columns)
            email = self.mails.write(CREATED, account.email, shown.name, shown.expires_at)
            after_commit(session, lambda: self.mails.owner_mail.notify(email))
            return shown

    def end(self, account_id: AccountKey, token_id: int, reason: str = BY_OWNER) -> ShownToken:
        """End a token and return it."""
        with transaction(self.session):
            return self.end_one(account_id, token_id, account_id=account_id, reason=reason)

    def end_all(
        self, account_id: AccountKey, reason: str = BY_OWNER, since: datetime | None = None
    ) -> int:
        """End the tokens of an account, or those created since a time; return their number."""
        since_then = () if since is None else (PersonalToken.created_at >= since,)
        with transaction(self.session) as session:
            return self._end_of_accounts(session, [(account_id, reason)], *since_then)

    def end_before_commit(self, account_id: AccountKey, reason: str) -> None:
        """End the tokens of an account in the open transaction, together with those of others."""
        write_last(self.session, self._end_of_accounts, (account_id, reason))

    def _end_of_accounts(
        self,
        session: AnySession,
        accounts: Sequence[tuple[AccountKey, str]],
        *which: ColumnElement[bool],
    ) -> int:
        """End the tokens of accounts, each with a reason, and return their number.

        The accounts are locked first: a token that is just being created is ended too.
        """
        reasons, model = dict(accounts), self.accounts.model
        locking = select(model.id).where(model.id.in_(reasons)).order_by(model.id)
        session.execute(locking.with_for_update(key_share=True, of=model))
        of_accounts = PersonalToken.account_id.in_(reasons)
        now = self.clock.now()
        ending = update(PersonalToken).where(of_accounts, *is_valid(PersonalToken, now), *which)
        found = ending.values(ended_at=now).returning(PersonalToken.account_id)
        ended = Counter(execute_bulk(session, found).scalars())
        for account_id, tokens in ended.items():
            report_action(
                session,
                actions.PERSONAL_TOKEN_ENDED,
                account_id=account_id,
                reason=reasons[account_id],
                tokens=tokens,
            )
        return ended.total()

    def end_of_everybody(self) -> None:
        """End the tokens of all accounts, within the transaction of an operator's sign-out."""
        with extended_timeout(self.session):
            ended = self.end_where(PersonalToken.ended_at.is_(None))
        if ended:
            report_action(
                self.session, actions.PERSONAL_TOKEN_ENDED, reason=BY_OPERATOR, tokens=ended
            )

    def _workspace_id(self, account_id: AccountKey, slug: str | None) -> int | None:
        """Return the id of the workspace, with the membership locked against its removal."""
        if slug is None:
            return None
        found = self.session.scalar(
            select(Member.workspace_id)
            .join(Workspace, Workspace.id == Member.workspace_id)
            .where(Workspace.slug == slug, Member.account_id == account_id, Member.status == ACTIVE)
            .with_for_update(read=True, key_share=True, of=Member)
        )
        if found is None:
            raise Invalid.about("workspace", NO_MEMBERSHIP)
        return found


@dataclass(eq=False)
class WorkspaceTokens(StoredTokens):
    """The tokens of workspaces. The actor is the requesting member. Every change locks the
    workspace, as changes of members do: a token that was ended changes nothing more."""

    members: Members

    kind = TokenKind(
        WorkspaceToken,
        WORKSPACE,
        "workspace_id",
        actions.WORKSPACE_TOKEN_CREATED,
        actions.WORKSPACE_TOKEN_ENDED,
        WorkspaceTokenNotFound,
    )

    def create(
        self, caller: Caller, actor: Member, given: WorkspaceTokenCreate.Input
    ) -> ShownToken:
        """Create a token that acts as a member of a type that the actor may manage."""
        with transaction(self.session):
            self.lock_active(caller)
            self.members.check_may_manage(self.members.manager(actor), given["type"])
            columns = {"workspace_id": actor.workspace_id, "type": given["type"]}
            return self.insert(given, columns, type=given["type"])

    def end(self, actor: Member, token_id: int) -> ShownToken:
        """End a token and return it."""
        with transaction(self.session):
            workspace_id = self.members.manager(actor).workspace_id
            return self.end_one(workspace_id, token_id, workspace_id=workspace_id)
