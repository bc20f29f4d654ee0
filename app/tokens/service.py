"""Creates, lists and ends personal tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, select, update

from ..accounts.service import Accounts
from ..auth.caller import Caller, lock_caller
from ..auth.errors import InactiveCaller
from ..core.clock import Clock
from ..core.coded_messages import CodedMessage
from ..core.context import report_action
from ..core.db.transaction import (
    AnySession,
    after_commit,
    execute_bulk,
    extended_timeout,
    lock_row,
    transaction,
)
from ..core.errors import Invalid
from ..core.limits import has_rows
from ..core.types import AccountKey
from ..workspaces.models import ACTIVE, Member, Workspace
from .actions import PERSONAL_TOKEN_CREATED, PERSONAL_TOKEN_ENDED
from .errors import PersonalTokenNotFound, TooManyTokens
from .format import PERSONAL
from .mails import CREATED, TokenMails
from .models import PersonalToken
from .schemas import PersonalTokenCreate
from .stored import MAX_TOKENS, ShownToken, is_valid, new_values, read_shown, shown_columns, target

REMINDER = timedelta(days=7)

# Why tokens ended.
BY_OWNER, BY_OPERATOR, BY_RECLAIM = "owner", "operator", "reclaim"
BY_PASSWORD_RESET, BY_SUSPENSION = "password_reset", "suspension"

NO_MEMBERSHIP = CodedMessage("Not a workspace with an active membership.", "not_found")


@dataclass(eq=False)
class PersonalTokens:
    session: AnySession
    accounts: Accounts
    clock: Clock
    # The descriptions of all scopes by name.
    scopes: Mapping[str, str]
    mails: TokenMails

    def list(self, account_id: AccountKey) -> Sequence[ShownToken]:
        """Return the valid tokens of an account, the newest first."""
        newest = self._shown(*self._live(account_id)).order_by(PersonalToken.id.desc())
        return [read_shown(row) for row in self.session.execute(newest)]

    def create(self, caller: Caller, given: PersonalTokenCreate.Input) -> ShownToken:
        """Create a token of the caller's account, and email its owner.

        The account stays locked: of simultaneous requests, none exceeds the quota, and what ends
        the tokens of the account also ends this one.
        """
        text, values = new_values(PERSONAL, given, self.scopes, self.clock.now())
        with transaction(self.session) as session:
            account = lock_caller(self.accounts, caller)
            if not self.accounts.is_active(account):
                raise InactiveCaller
            expires_at = values["expires_at"]
            token = PersonalToken(
                account_id=account.id,
                workspace_id=self._workspace_id(account.id, given["workspace"]),
                **values,
                remind_at=expires_at - REMINDER if given["days"] > REMINDER.days else None,
            )
            if has_rows(session, PersonalToken, MAX_TOKENS, *self._live(account.id)):
                raise TooManyTokens
            session.add(token)
            session.flush()
            report_action(
                session,
                PERSONAL_TOKEN_CREATED,
                account_id=account.id,
                workspace_id=token.workspace_id,
                target=target(PersonalToken, token.id),
                name=token.name,
                scopes=token.scopes.split(),
                expires_at=expires_at,
            )
            email = self.mails.write(CREATED, account.email, token.name, expires_at)
            after_commit(session, lambda: self.mails.owner_mail.notify(email))
            row = session.execute(self._shown(PersonalToken.id == token.id)).one()
            return read_shown(row)._replace(token=text)

    def end(self, account_id: AccountKey, token_id: int, reason: str = BY_OWNER) -> ShownToken:
        """End a token and return it. Of simultaneous requests, one finds it."""
        with transaction(self.session) as session:
            is_this = (PersonalToken.id == token_id, *self._live(account_id))
            row = session.execute(self._shown(*is_this)).one_or_none()
            if row is None or not self._end(*is_this):
                raise PersonalTokenNotFound
            report_action(
                session,
                PERSONAL_TOKEN_ENDED,
                account_id=account_id,
                target=target(PersonalToken, token_id),
                name=row.name,
                reason=reason,
            )
            return read_shown(row)

    def end_all(
        self, account_id: AccountKey, reason: str = BY_OWNER, since: datetime | None = None
    ) -> int:
        """End the tokens of an account, or those created since a time; return their number.

        The account is locked first: a token that is just being created is ended too.
        """
        with transaction(self.session) as session:
            model = self.accounts.model
            lock_row(session, model, model.id == account_id)
            which = self._live(account_id)
            if since is not None:
                which = (*which, PersonalToken.created_at >= since)
            ended = self._end(*which)
            if ended:
                report_action(
                    session,
                    PERSONAL_TOKEN_ENDED,
                    account_id=account_id,
                    reason=reason,
                    tokens=ended,
                )
            return ended

    def end_of_everybody(self) -> None:
        """End the tokens of all accounts, within the transaction of an operator's sign-out."""
        with extended_timeout(self.session):
            ended = self._end(PersonalToken.ended_at.is_(None))
        if ended:
            report_action(self.session, PERSONAL_TOKEN_ENDED, reason=BY_OPERATOR, tokens=ended)

    def _live(self, account_id: AccountKey) -> tuple[ColumnElement[bool], ...]:
        of_account = PersonalToken.account_id == account_id
        return of_account, *is_valid(PersonalToken, self.clock.now())

    def _end(self, *which: ColumnElement[bool]) -> int:
        ending = update(PersonalToken).where(*which).values(ended_at=self.clock.now())
        return execute_bulk(self.session, ending).rowcount

    def _shown(self, *which: ColumnElement[bool]) -> Select[Any]:
        columns = select(*shown_columns(PersonalToken), Workspace.slug.label("workspace"))
        is_bound = Workspace.id == PersonalToken.workspace_id
        return columns.select_from(PersonalToken).outerjoin(Workspace, is_bound).where(*which)

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
