"""Another e-mail address for an account.

The new one proves itself before anything changes, and the old one can take it back for some days.
Only the email to the new address says whether that address has an account.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select

from ...accounts.addresses import read_new_email
from ...accounts.models import PENDING, AccountLike
from ...accounts.service import Accounts
from ...core.context import BasicService, report_action
from ...core.db.pruning import delete_in_batches
from ...core.db.transaction import AnySession, after_commit, transaction
from ...core.errors import Invalid
from ...core.types import AccountKey
from ...delivery.mail.one_off import OwnerMail
from ..actions import EMAIL_CHANGE_REQUESTED
from ..caller import Caller, lock_caller
from ..errors import (
    EmailRefused,
    FreshSignInRequired,
    InvalidProof,
    ReauthenticationRequired,
)
from ..limits import EmailChangeLimits
from ..mails import Mails
from ..sign_in.options import SignInOptions
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult
from ..sign_up_policy import BY_EMAIL_CHANGE, SignUpPolicy
from ..step_up.service import Freshness
from .models import EmailChange
from .proofs import EmailChangeProofs, pending

# What an account proves itself by that has just confirmed its new address.
EMAIL = "email"


@dataclass(eq=False)
class EmailChangeRules:
    """Who may ask for which address, and how often."""

    limits: EmailChangeLimits
    sign_up_policy: SignUpPolicy

    def check(self, account_id: object, email: str) -> bool:
        """Count a request and return whether the address may be sent an email.

        Raises TooManyAttempts or EmailRefused.
        """
        self.limits.count(account_id)
        if not self.sign_up_policy.allows(email, BY_EMAIL_CHANGE):
            raise EmailRefused
        return self.limits.may_mail(email)


@dataclass(eq=False)
class EmailChangeNotices:
    proofs: EmailChangeProofs
    mails: Mails
    owner_mail: OwnerMail

    def ask(
        self, change: EmailChange, account: AccountLike, is_taken: bool, may_mail: bool
    ) -> None:
        issued = self.proofs.issue(change, account)
        proof = self.mails.confirm_email(change.new_email, issued)
        taken = self.mails.email_in_use(change.new_email)
        if may_mail:
            self.owner_mail.send_soon(taken if is_taken else proof)
        self.tell_old_address(change)

    def tell_old_address(self, change: EmailChange) -> None:
        if change.is_undoable:
            token = self.proofs.undo_token(change)
            is_made = change.confirmed_at is not None
            notice = self.mails.email_change(change.old_email, change.new_email, token, is_made)
            self.owner_mail.send_soon(notice)


@dataclass(eq=False)
class EmailChanges(BasicService):
    accounts: Accounts
    freshness: Freshness
    rules: EmailChangeRules
    proofs: EmailChangeProofs
    policy: SignInPolicy
    notices: EmailChangeNotices

    def request(self, caller: Caller, email: str, password: str | None, address: str) -> None:
        """Mail a proof to the new address, and a way back to the old one."""
        email = read_new_email(email)
        if email == caller.account.email:
            raise Invalid.about("email", "Must be another one than before.")
        self.freshness.check(caller, password, address, protects=True)
        may_mail = self.rules.check(caller.account.id, email)
        with transaction(self.session):
            account = lock_caller(self.accounts, caller)
            holder = self.accounts.find(email)
            is_taken = holder is not None and holder.status != PENDING
            change = self._store(account, email)
            report_action(self.session, EMAIL_CHANGE_REQUESTED, account_id=account.id)
            after_commit(
                self.session, lambda: self.notices.ask(change, account, is_taken, may_mail)
            )

    def confirm(
        self,
        token: str,
        email: str | None,
        password: str | None,
        caller: Caller | None,
        options: SignInOptions,
    ) -> SignInResult | Challenge:
        """Revoke all tokens and sign the owner in again; of two requests at once, one succeeds."""
        change = self.proofs.find(token, email, caller.account.id if caller else None)
        factor_at = self._check_owner(change, password, caller, options.ip_address)
        proven = self._state(change)
        with transaction(self.session):
            account = self.accounts.lock(change.account_id)
            held = self._again(change.id)
            if account is None or held is None or self._state(held) != proven:
                raise InvalidProof
            self._make(held, account)
            return self.policy.admit(account, (EMAIL,), options, factor_at=factor_at)

    def _check_owner(
        self, change: EmailChange, password: str | None, caller: Caller | None, address: str
    ) -> float | None:
        """Return when the owner showed a second factor; raise a problem if nothing shows the owner.

        The token alone does not: a mistyped address would give the account to a stranger.
        """
        if caller is not None:
            self.freshness.check_factor(caller)
            return caller.factor_at
        if password is None:
            raise FreshSignInRequired(self.freshness.seconds)
        account = self.accounts.by_id(change.account_id)
        if account is None:
            raise InvalidProof
        self.freshness.login.match(account.email, password, address)
        if self.freshness.has_factor(account):
            raise ReauthenticationRequired(self.freshness.seconds, factors=2)
        return None

    def waiting(self, account_id: AccountKey) -> str:
        """The new address that is still to be confirmed; empty where none is."""
        since = self.clock.now() - self.proofs.confirming.token_life
        found = self.session.scalar(
            select(EmailChange.new_email).where(
                EmailChange.account_id == account_id,
                EmailChange.confirmed_at.is_(None),
                EmailChange.requested_at > since,
            )
        )
        return found or ""

    def end_all(self, account: AccountLike) -> None:
        """After somebody else's word on the address, such as an operator's. Of a change that was
        made here the newest leads to the address as it is."""
        leads_here = select(EmailChange.id).where(
            EmailChange.account_id == account.id,
            EmailChange.new_email == account.email,
            EmailChange.confirmed_at.is_not(None),
        )
        if self.session.scalar(leads_here.limit(1)) is None:
            forget_changes(self.session, EmailChange.account_id == account.id)

    def prune(self, batch: int = 1_000) -> int:
        """Delete changes that can no longer be confirmed or undone."""
        lives = self.proofs.confirming.token_life + self.proofs.undoing.token_life
        over = EmailChange.requested_at < self.clock.now() - lives
        return delete_in_batches(self.session, EmailChange, over, batch=batch)

    def _store(self, account: AccountLike, email: str) -> EmailChange:
        """The newest alone can be made."""
        forget_changes(
            self.session, EmailChange.account_id == account.id, EmailChange.confirmed_at.is_(None)
        )
        change = EmailChange(
            account_id=account.id,
            old_email=account.email,
            new_email=email,
            is_undoable=self.accounts.is_email_verified(account),
            requested_at=self.clock.now(),
        )
        self.session.add(change)
        self.session.flush()
        return change

    def _make(self, change: EmailChange, account: AccountLike) -> None:
        change.confirmed_at = self.clock.now()
        free_email(self.session, self.accounts, change.new_email)
        self.accounts.change(account, email=change.new_email)
        if not self.accounts.is_email_verified(account):
            self.accounts.verify_email_of(account)
        after_commit(self.session, lambda: self.notices.tell_old_address(change))

    def _again(self, change_id: int) -> EmailChange | None:
        return self.session.get(EmailChange, change_id, populate_existing=True)

    def _state(self, change: EmailChange) -> object:
        account = self.accounts.by_id(change.account_id)
        made = change.confirmed_at is not None
        return None if account is None else (made, *pending(change, account).state)


def free_email(session: AnySession, accounts: Accounts, email: str) -> None:
    """Delete the account of a user who began with an address of another, and never verified it."""
    model = accounts.model
    session.execute(
        delete(model)
        .where(model.email == email, model.status == PENDING)
        .execution_options(synchronize_session=False)
    )


def forget_changes(session: AnySession, *which: Any) -> None:
    session.execute(
        delete(EmailChange).where(*which).execution_options(synchronize_session="fetch")
    )
