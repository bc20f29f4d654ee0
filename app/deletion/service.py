"""Account deletion with a grace period in which its owner can restore it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select

from ..accounts.actions import ACCOUNT_DELETION_REQUESTED, ACCOUNT_RESTORED
from ..accounts.models import DELETING, ROOT, AccountLike
from ..accounts.service import Accounts
from ..administration.rules import SoleOwner, check_root_remains
from ..auth.caller import Caller, lock_caller
from ..auth.errors import InvalidProof
from ..auth.proofs import Proofs, ProofSubject, Purpose
from ..auth.settings import AuthSettings
from ..auth.step_up.service import Freshness
from ..core.context import BasicService, report_action
from ..core.db.account_ids import IdKind, serialize_id
from ..core.db.transaction import after_commit, transaction
from ..core.translations import mark
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
    ownership: Ownership
    proofs: RestoreProofs
    mails: DeletionMails
    owner_mail: OwnerMail

    def request(self, caller: Caller, password: str | None, address: str) -> datetime | None:
        """Return when the account will be deleted, or None if it was deleted at once."""
        self.freshness.check(caller, password, address, protects=True)
        with transaction(self.session) as session:
            account = lock_caller(self.accounts, caller)
            self._check_removable(account)
            if self.proofs.grace:
                return self._schedule(account)
            notice = self.mails.deleted(account.email)
            after_commit(session, lambda: self.owner_mail.notify(notice))
            self.accounts.delete(account)
            return None

    def restore(self, token: str) -> None:
        """Restore an account. A second click on the link succeeds, unless another deletion was
        requested since."""
        account_id, deletes_at = self.proofs.read(token)
        with transaction(self.session):
            account = self.accounts.lock(account_id)
            scheduled = self._scheduled(account_id)
            if account is None or (scheduled and scheduled.deletes_at.isoformat() != deletes_at):
                raise InvalidProof
            self.cancel(account)

    def scheduled_by(self, token: str) -> AccountDeletion:
        """Return the scheduled deletion that the token undoes; raise InvalidProof without one."""
        account_id, deletes_at = self.proofs.read(token)
        scheduled = self._scheduled(account_id)
        if scheduled is None or scheduled.deletes_at.isoformat() != deletes_at:
            raise InvalidProof
        return scheduled

    def cancel(self, account: AccountLike) -> None:
        """Cancel the deletion within the open transaction."""
        scheduled = self._scheduled(account.id)
        if scheduled is None:
            return
        self.session.delete(scheduled)
        # An operator may have changed the status in the meantime.
        if account.status == DELETING:
            account.status = scheduled.former_status
            self.session.flush()
            report_action(self.session, ACCOUNT_RESTORED, account, account_id=account.id)

    def delete_due(self, batch: int = 100) -> int:
        """Delete the accounts after their grace period, and return how many were deleted.

        Each has a separate transaction: an account that cannot be deleted delays no other.
        """
        deleted, after = 0, 0
        while True:
            due = (
                select(AccountDeletion.id, AccountDeletion.account_id)
                .where(AccountDeletion.deletes_at <= self.clock.now(), AccountDeletion.id > after)
                .order_by(AccountDeletion.id)
                .limit(batch)
            )
            rows = self.session.execute(due).all()
            for row_id, account_id in rows:
                after = row_id
                try:
                    deleted += self._delete(account_id)
                except Exception:
                    log.exception("Account %s could not be deleted; will retry", account_id)
            if len(rows) < batch:
                return deleted

    def _schedule(self, account: AccountLike) -> datetime:
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
        email = self.mails.scheduled(account.email, token, deletes_at)
        after_commit(self.session, lambda: self.owner_mail.send_soon(email))
        return deletes_at

    def _delete(self, account_id: AccountKey) -> bool:
        """Delete an account, unless it was restored in the meantime."""
        with transaction(self.session) as session:
            account = self.accounts.lock(account_id)
            scheduled = self._scheduled(account_id)
            if account is None or scheduled is None or scheduled.deletes_at > self.clock.now():
                return False
            if account.status != DELETING:
                session.delete(scheduled)
                return False
            # Since the request an admin may have suspended the other owners.
            for workspace in self.ownership.transfer(account_id):
                log.warning(
                    "Deleting account %s leaves workspace %s without an active owner. Appoint one"
                    " with `flask workspaces add %s EMAIL --type owner`.",
                    account_id,
                    workspace.slug,
                    workspace.slug,
                )
            self.accounts.delete(account)
            return True

    def deletes_at(self, account_id: AccountKey) -> datetime | None:
        """Return when the account will be deleted, or None without a request of its owner."""
        found: datetime | None = self.session.scalar(
            select(AccountDeletion.deletes_at).where(AccountDeletion.account_id == account_id)
        )
        return found

    def _check_removable(self, account: AccountLike) -> None:
        """Raise the problem of the last root or of a sole owner.

        The counted rows stay locked: of two concurrent deletions, the second counts without the
        account of the first.
        """
        if account.role == ROOT:
            self.accounts.lock_roots()
        check_root_remains(self.accounts, account)
        if owned := self.ownership.lock_solely_owned(account.id):
            raise SoleOwner([workspace.slug for workspace in owned])

    def _scheduled(self, account_id: AccountKey) -> AccountDeletion | None:
        return self.session.scalar(
            select(AccountDeletion)
            .where(AccountDeletion.account_id == account_id)
            .execution_options(populate_existing=True)
        )


@dataclass(frozen=True)
class RestoreProofs:
    """The token of the email with which an owner restores the account."""

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
        """Return the account's id and the time of its deletion; raise InvalidProof."""
        return self.proofs.by_token(self.purpose, KIND, token, self._find)

    def _find(self, subject_id: Any) -> ProofSubject[tuple[Any, str]]:
        shown_id, deletes_at = subject_id
        return _subject(subject_id, (self.ids.from_text(shown_id), deletes_at))


def _subject(subject_id: object, row: object = None) -> ProofSubject[Any]:
    """The id has the account and the time of its deletion: another deletion is another subject."""
    return ProofSubject(KIND, subject_id, (), row)


@dataclass(eq=False)
class DeletionMails:
    auth: AuthSettings
    templates: Templates

    def scheduled(self, email_to: str, token: str, deletes_at: datetime) -> Email:
        return self.templates.to_account(
            "deletion_requested",
            email_to,
            mark("your account will be deleted"),
            path=self.auth.ACCOUNT_RESTORE_PATH,
            token=token,
            deletes_on=deletes_at.date(),
        )

    def deleted(self, email_to: str) -> Email:
        return self.templates.to_account(
            "account_deleted", email_to, mark("your account was deleted")
        )
