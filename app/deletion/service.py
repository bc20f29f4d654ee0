"""Account deletion with a grace period in which its owner can restore it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select

from ..accounts.actions import ACCOUNT_DELETION_REQUESTED, ACCOUNT_RESTORED
from ..accounts.models import DELETING, AccountLike
from ..accounts.service import Accounts
from ..administration.rules import ROOT, SoleOwner, check_root_remains
from ..auth.caller import Caller, lock_caller
from ..auth.errors import InvalidProof
from ..auth.fresh import Freshness
from ..auth.proofs import Proofs, ProofSubject, Purpose
from ..auth.settings import AuthSettings
from ..core.config.settings import CoreSettings
from ..core.context import BasicService, report_action
from ..core.db.account_ids import IdKind, serialize_id
from ..core.db.transaction import AnySession, after_commit, lock_name, transaction
from ..core.types import AccountKey
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.message import Email
from ..workspaces.ownership import Ownership
from .models import AccountDeletion

log = logging.getLogger(__name__)

KIND = "account-deletion"


@dataclass(eq=False)
class Deletion(BasicService):
    accounts: Accounts
    freshness: Freshness
    rules: DeletionRules
    proofs: RestoreProofs
    mails: DeletionMails
    owner_mail: OwnerMail

    def request(self, caller: Caller, password: str | None, address: str) -> datetime | None:
        """When the account goes; None where it is gone already."""
        self.freshness.check(caller, password, address, protects=True)
        with transaction(self.session):
            account = lock_caller(self.accounts, caller)
            self.rules.check(account)
            if self.proofs.grace:
                return self._begin(account)
            notice = self.mails.deleted(account.email)
            after_commit(self.session, lambda: self.owner_mail.notify(notice))
            self.accounts.delete(account)
            return None

    def restore(self, token: str) -> None:
        """A second click on the link is no fault, as long as nothing else was asked for since."""
        account_id, moment = self.proofs.read(token)
        with transaction(self.session):
            account = self.accounts.lock(account_id)
            waiting = self._waiting(account_id)
            if account is None or (waiting and waiting.deletes_at.isoformat() != moment):
                raise InvalidProof
            self.keep(account)

    def keep(self, account: AccountLike) -> None:
        """Cancel the deletion within the open transaction."""
        waiting = self._waiting(account.id)
        if waiting is None:
            return
        self.session.delete(waiting)
        # An operator may have changed the status in the meantime.
        if account.status == DELETING:
            account.status = waiting.former_status
            self.session.flush()
            report_action(self.session, ACCOUNT_RESTORED, account, account_id=account.id)

    def sweep(self, most: int = 100) -> int:
        """Delete those whose days are over, each in a transaction of its own: it may break off
        anywhere, and one that cannot go holds up no other."""
        gone, after = 0, 0
        while True:
            due = (
                select(AccountDeletion.id, AccountDeletion.account_id)
                .where(AccountDeletion.deletes_at <= self.clock.now(), AccountDeletion.id > after)
                .order_by(AccountDeletion.id)
                .limit(most)
            )
            rows = self.session.execute(due).all()
            for row_id, account_id in rows:
                after = row_id
                try:
                    gone += self._delete(account_id)
                except Exception:
                    log.exception("Account %s could not be deleted; it is tried again", account_id)
            if len(rows) < most:
                return gone

    def _begin(self, account: AccountLike) -> datetime:
        deletes_at = self.clock.now() + self.proofs.grace
        self.session.execute(
            delete(AccountDeletion).where(AccountDeletion.account_id == account.id)
        )
        self.session.add(
            AccountDeletion(
                account_id=account.id, former_status=account.status, deletes_at=deletes_at
            )
        )
        account.status = DELETING
        self.accounts.end_tokens(account)
        self.session.flush()
        report_action(self.session, ACCOUNT_DELETION_REQUESTED, account, account_id=account.id)
        token = self.proofs.issue(account, deletes_at)
        mail = self.mails.asked(account.email, token, deletes_at)
        after_commit(self.session, lambda: self.owner_mail.send_soon(mail))
        return deletes_at

    def _delete(self, account_id: AccountKey) -> bool:
        """Unless it was kept in this moment."""
        with transaction(self.session):
            account = self.accounts.lock(account_id)
            waiting = self._waiting(account_id)
            if account is None or waiting is None or waiting.deletes_at > self.clock.now():
                return False
            if account.status != DELETING:
                self.session.delete(waiting)
                return False
            # Since the request an admin may have suspended the other owners.
            for workspace in self.rules.ownership.transfer(account_id):
                log.warning(
                    "Deleting account %s leaves workspace %s without an active owner. Appoint one"
                    " with `flask workspaces add %s EMAIL --type owner`.",
                    account_id,
                    workspace.slug,
                    workspace.slug,
                )
            self.accounts.delete(account)
            return True

    def due(self, account_id: AccountKey) -> datetime | None:
        """When the account goes, where its owner has asked for its end."""
        found: datetime | None = self.session.scalar(
            select(AccountDeletion.deletes_at).where(AccountDeletion.account_id == account_id)
        )
        return found

    def _waiting(self, account_id: AccountKey) -> AccountDeletion | None:
        return self.session.scalar(
            select(AccountDeletion)
            .where(AccountDeletion.account_id == account_id)
            .execution_options(populate_existing=True)
        )


@dataclass(frozen=True)
class RestoreProofs:
    """The token of the email by which an owner keeps the account."""

    proofs: Proofs
    # Valid as long as the grace period.
    purpose: Purpose
    ids: IdKind

    @property
    def grace(self) -> timedelta:
        return self.purpose.token_life

    def issue(self, account: AccountLike, deletes_at: datetime) -> str:
        subject = _subject([serialize_id(account.id), deletes_at.isoformat()])
        return self.proofs.token(self.purpose, subject)

    def read(self, token: str) -> tuple[Any, str]:
        """Return the account's id and the moment at which it goes; raise InvalidProof."""
        return self.proofs.by_token(self.purpose, KIND, token, self._find)

    def _find(self, named: Any) -> ProofSubject[tuple[Any, str]]:
        shown_id, moment = named
        return _subject(named, (self.ids.from_text(shown_id), moment))


def _subject(named: object, row: object = None) -> ProofSubject[Any]:
    """The account and the moment at which it goes: another deletion is another subject."""
    return ProofSubject(KIND, named, (), row)


@dataclass(eq=False)
class DeletionRules:
    """Within a transaction, that holds what is counted until its end: of two who go at once the
    second meets what the first has left."""

    session: AnySession
    accounts: Accounts
    ownership: Ownership

    def check(self, account: AccountLike) -> None:
        if account.role == ROOT:
            lock_name(self.session, self.accounts.model, ROOT)
        check_root_remains(self.session, self.accounts, account)
        if alone := self.ownership.solely_owned(account.id):
            raise SoleOwner([workspace.slug for workspace in alone])


@dataclass(eq=False)
class DeletionMails:
    """The emails about a deletion."""

    core: CoreSettings
    auth: AuthSettings
    templates: Templates

    def asked(self, email_to: str, token: str, deletes_at: datetime) -> Email:
        return self.templates.to_account(
            self.core,
            "deletion_requested",
            email_to,
            f"{self.core.PROJECT_NAME}: your account will be deleted",
            link=f"{self.core.page_url(self.auth.ACCOUNT_RESTORE_PATH)}?token={token}",
            token=token,
            deletes_on=f"{deletes_at:%Y-%m-%d}",
        )

    def deleted(self, email_to: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: your account was deleted"
        return self.templates.to_account(self.core, "account_deleted", email_to, subject)
