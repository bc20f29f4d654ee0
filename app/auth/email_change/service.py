"""Change of an account's email address.

The new address is verified before the change; the old address can undo it for some days.
Only the email to the new address says whether that address has an account.
"""

from dataclasses import dataclass
from functools import partial

from sqlalchemy import ColumnElement, delete, select

from ...accounts.addresses import read_new_email
from ...accounts.errors import EmailTaken
from ...accounts.models import PENDING, AccountLike
from ...accounts.service import Accounts
from ...core.coded_messages import UNCHANGED
from ...core.context import BasicService, report_action
from ...core.db.pruning import delete_in_batches, delete_rows
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
    TooManyAttempts,
)
from ..limits import EmailChangeLimits
from ..mails import Mails
from ..sign_in.options import SignInOptions
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult
from ..sign_up_policy import BY_EMAIL_CHANGE, SignUpPolicy
from ..step_up.service import Freshness
from .models import EmailChange
from .proofs import EmailChangeProofs, pending

# The name of the proof after a confirmed change of email address.
EMAIL = "email"


@dataclass(eq=False)
class EmailChangeNotices:
    """The emails to the new and to the old address."""

    proofs: EmailChangeProofs
    mails: Mails
    owner_mail: OwnerMail

    def send(
        self, change: EmailChange, account: AccountLike, is_taken: bool, may_mail: bool
    ) -> None:
        issued = self.proofs.issue(change, account)
        proof = self.mails.confirm_email(change.new_email, issued, _locale_of(account))
        # The language of the other account, which has the address.
        taken = self.mails.email_in_use(change.new_email)
        if may_mail:
            self.owner_mail.send_soon(taken if is_taken else proof)
        self.send_to_old_address(change, account)

    def send_to_old_address(self, change: EmailChange, account: AccountLike) -> None:
        if change.is_undoable:
            token = self.proofs.undo_token(change)
            is_made = change.confirmed_at is not None
            notice = self.mails.email_change(
                change.old_email, change.new_email, token, is_made, _locale_of(account)
            )
            self.owner_mail.send_soon(notice)


@dataclass(eq=False)
class EmailChanges(BasicService):
    accounts: Accounts
    freshness: Freshness
    limits: EmailChangeLimits
    sign_up_policy: SignUpPolicy
    proofs: EmailChangeProofs
    policy: SignInPolicy
    notices: EmailChangeNotices

    def request(self, caller: Caller, email: str, password: str | None, ip_address: str) -> None:
        """Email a proof to the new address, and a link to undo the change to the old address."""
        email = read_new_email(email)
        if email == caller.account.email:
            raise Invalid.about("email", UNCHANGED)
        self.freshness.check(caller, password, ip_address, protects=True)
        self.limits.count(caller.account.id)
        if not self.sign_up_policy.allows(email, BY_EMAIL_CHANGE):
            raise EmailRefused
        may_mail = self.limits.may_mail(email)
        with transaction(self.session) as session:
            account = lock_caller(self.accounts, caller)
            holder = self.accounts.find(email)
            is_taken = holder is not None and holder.status != PENDING
            change = self._store(account, email)
            report_action(session, EMAIL_CHANGE_REQUESTED, account_id=account.id)
            after_commit(session, lambda: self.notices.send(change, account, is_taken, may_mail))

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
        verified_state = self._state(change)
        with transaction(self.session):
            account = self.accounts.lock(change.account_id)
            stored = self._reload(change.id)
            if account is None or stored is None or self._state(stored) != verified_state:
                raise InvalidProof
            self._complete(stored, account)
            return self.policy.admit(account, (EMAIL,), options, factor_at=factor_at)

    def request_by_operator(self, account: AccountLike, email: str) -> None:
        """Email a proof to the new address, within the rate limits. The caller has locked the
        account; the owner confirms the change after signing in."""
        email = self._read_free(account, email)
        self.limits.count(account.id)
        if not self.limits.may_mail(email):
            raise TooManyAttempts(60)
        change = self._store(account, email)
        report_action(self.session, EMAIL_CHANGE_REQUESTED, account_id=account.id)
        send = partial(self.notices.send, change, account, is_taken=False, may_mail=True)
        after_commit(self.session, send)

    def set_by_operator(self, account: AccountLike, email: str) -> None:
        """Set a verified address and revoke all tokens. The caller has locked the account; the old
        address can undo the change."""
        self._complete(self._store(account, self._read_free(account, email)), account)

    def _read_free(self, account: AccountLike, email: str) -> str:
        email = read_new_email(email)
        if email == account.email:
            raise Invalid.about("email", UNCHANGED)
        holder = self.accounts.find(email)
        if holder is not None and holder.status != PENDING:
            raise EmailTaken
        return email

    def _check_owner(
        self, change: EmailChange, password: str | None, caller: Caller | None, ip_address: str
    ) -> float | None:
        """Return when the owner showed a second factor; raise a problem if nothing shows the owner.

        The token alone is not enough: with a mistyped address, another person gets it.
        """
        if caller is not None:
            self.freshness.check_factor(caller)
            return caller.factor_at
        if password is None:
            raise FreshSignInRequired(self.freshness.seconds)
        account = self.accounts.by_id(change.account_id)
        if account is None:
            raise InvalidProof
        self.freshness.login.match(account.email, password, ip_address)
        if self.freshness.has_factor(account):
            raise ReauthenticationRequired(self.freshness.seconds, factors=2)
        return None

    def waiting(self, account_id: AccountKey) -> str:
        """Return the new address that awaits confirmation, or an empty string."""
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
        """Delete the account's changes of email address after an operator has set the address.
        Changes are kept if one of them led to the current address."""
        current = select(EmailChange.id).where(
            EmailChange.account_id == account.id,
            EmailChange.new_email == account.email,
            EmailChange.confirmed_at.is_not(None),
        )
        if self.session.scalar(current.limit(1)) is None:
            forget_changes(self.session, EmailChange.account_id == account.id)

    def prune(self, batch: int = 1_000) -> int:
        """Delete changes that can no longer be confirmed or undone."""
        lives = self.proofs.confirming.token_life + self.proofs.undoing.token_life
        over = EmailChange.requested_at < self.clock.now() - lives
        return delete_in_batches(self.session, EmailChange, over, batch=batch)

    def _store(self, account: AccountLike, email: str) -> EmailChange:
        """Store a change and delete pending ones: only the newest can be confirmed."""
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

    def _complete(self, change: EmailChange, account: AccountLike) -> None:
        change.confirmed_at = self.clock.now()
        free_email(self.session, self.accounts, change.new_email)
        self.accounts.change(account, email=change.new_email)
        if not self.accounts.is_email_verified(account):
            self.accounts.verify_email_of(account)
        after_commit(self.session, lambda: self.notices.send_to_old_address(change, account))

    def _reload(self, change_id: int) -> EmailChange | None:
        return self.session.get(EmailChange, change_id, populate_existing=True)

    def _state(self, change: EmailChange) -> object:
        account = self.accounts.by_id(change.account_id)
        made = change.confirmed_at is not None
        return None if account is None else (made, *pending(change, account).state)


def _locale_of(account: AccountLike) -> str | None:
    """Return the account's language, if the model has languages."""
    locale: str | None = getattr(account, "locale", None)
    return locale


def free_email(session: AnySession, accounts: Accounts, email: str) -> None:
    """Delete a pending account that was registered with the address and never verified it."""
    model = accounts.model
    delete_rows(session, model, model.email == email, model.status == PENDING)


def forget_changes(session: AnySession, *which: ColumnElement[bool]) -> None:
    session.execute(
        delete(EmailChange).where(*which).execution_options(synchronize_session="fetch")
    )
