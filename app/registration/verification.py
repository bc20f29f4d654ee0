"""Verification of an account's email address, and the emails of registration."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ..accounts.actions import ACCOUNTS_PRUNED, EMAIL_VERIFIED
from ..accounts.addresses import fold
from ..accounts.models import PENDING, AccountLike
from ..accounts.service import Accounts
from ..auth.limits import RegistrationLimits
from ..auth.proofs import AccountProofs, IssuedProof
from ..auth.settings import AuthSettings
from ..core.context import BasicService, report_action
from ..core.db.pruning import delete_in_batches
from ..core.db.transaction import after_commit, transaction
from ..core.translations import mark
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.message import Email

# The purpose of the tokens and codes.
VERIFICATION = "verification"


@dataclass(eq=False)
class Verification(BasicService):
    """Verifies that the owner of an account reads the emails to its address."""

    accounts: Accounts
    proofs: AccountProofs
    limits: RegistrationLimits
    mails: RegistrationMails
    owner_mail: OwnerMail

    def find(self, token: str) -> AccountLike:
        """Return the account of an emailed link without a change; raise InvalidProof."""
        return self.proofs.find(token, None)

    def verify(self, token: str, email: str | None) -> None:
        """Verify by a token or code. A link stays valid, so that a second click succeeds."""
        self.mark_verified(self.proofs.find(token, email))

    def mark_verified(self, account: AccountLike) -> None:
        """Mark the email of an account as verified, by a proof or by an operator."""
        if self.accounts.is_email_verified(account):
            return
        with transaction(self.session) as session:
            self.accounts.verify_email_of(account)
            report_action(session, EMAIL_VERIFIED, account)
            after_commit(session, lambda: self.proofs.end_code(account))

    def send_again(self, email: str, address: str) -> None:
        """Send the email again; the response does not say whether the address is waiting."""
        email = fold(email)
        self.limits.count(address)
        may_mail = self.limits.may_mail(email)
        account = self.accounts.find(email)
        if may_mail and account is not None and not self.accounts.is_email_verified(account):
            self.send(account)

    def send(self, account: AccountLike) -> None:
        """Send an email with a link and a new code, which replaces earlier codes."""
        issued = self.proofs.issue(account)
        self.owner_mail.send_soon(self.mails.verification(account.email, issued))

    def prune(self, days: int, batch: int = 1_000) -> int:
        """Delete accounts that were not verified in time."""
        model = self.accounts.model
        before = self.clock.now() - timedelta(days=days)
        return delete_in_batches(
            self.session,
            model,
            model.status == PENDING,
            model.email_unverified_since < before,
            batch=batch,
            after_batch=lambda deleted: report_action(
                self.session, ACCOUNTS_PRUNED, accounts=deleted
            ),
        )


@dataclass(eq=False)
class RegistrationMails:
    auth: AuthSettings
    templates: Templates

    def verification(self, email_to: str, issued: IssuedProof) -> Email:
        return self.templates.to_account(
            "verify_email",
            email_to,
            mark("confirm your email address"),
            path=self.auth.VERIFICATION_PATH,
            token=issued.token,
            code=issued.code,
            code_minutes=self.auth.EMAIL_CODE_EXPIRE_MINUTES,
            token_hours=self.auth.EMAIL_TOKEN_EXPIRE_HOURS,
        )

    def already_registered(self, email_to: str) -> Email:
        topic = mark("you already have an account")
        return self.templates.to_account("already_registered", email_to, topic)

    def refused(self, email_to: str) -> Email:
        return self.templates.to_account(
            "registration_refused", email_to, mark("your registration")
        )
