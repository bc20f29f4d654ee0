from __future__ import annotations

import logging
from dataclasses import dataclass

from ..accounts.addresses import fold
from ..accounts.errors import AccountNotFound
from ..accounts.models import PENDING, AccountLike
from ..accounts.service import Accounts
from ..core.context import BasicService, report_action
from ..core.db.transaction import after_commit, release, transaction
from ..delivery.mail.one_off import OwnerMail
from .actions import PASSWORD_RESET, PASSWORD_RESET_REQUESTED
from .errors import InactiveAccount, InvalidProof
from .limits import Failures, RecoveryRequests
from .mails import Mails
from .passwords import set_password
from .proofs import AccountProofs

log = logging.getLogger(__name__)

# The purpose of its proofs.
RECOVERY = "recovery"


@dataclass(eq=False)
class Recovery(BasicService):
    accounts: Accounts
    proofs: AccountProofs
    requests: RecoveryRequests
    failures: Failures
    mails: Mails
    owner_mail: OwnerMail

    def request(self, email: str, address: str) -> None:
        """Mail a token and a code to the account's owner, active or not."""
        email = fold(email)
        self.requests.count(email, address)
        account = self.accounts.find(email)
        if account is None and not self.requests.hides_accounts:
            raise AccountNotFound(note={"event": "recovery_request"})
        whose = None if account is None else account.id
        with transaction(self.session):
            report_action(self.session, PASSWORD_RESET_REQUESTED, account_id=whose)
        if account is None:
            self._tell_stranger(email)
            return
        token, code = self.proofs.issue(account)
        email_to = account.email
        release(self.session)
        self._send(email_to, token, code)

    def invite(self, account: AccountLike) -> None:
        """Email a link to set the password to the owner of an account that an admin created."""
        issued = self.proofs.issue(account)
        self.owner_mail.send_soon(self.mails.account_made(account.email, issued))

    def begin(self, account: AccountLike) -> None:
        """Mail them unasked, to who has just shown that the account's address is theirs."""
        self._send(account.email, *self.proofs.issue(account))

    def verify(self, token: str, email: str | None) -> None:
        """Say whether a token or code counts; nothing is used up."""
        self.proofs.find(token, email)

    def reset(self, token: str, email: str | None, new_password: str, address: str) -> None:
        """Set a password. Of two at once with the same token, one wins."""
        account = self.proofs.find(token, email)
        if not self.accounts.is_active(account) and account.status != PENDING:
            note = {"event": "password_reset", "account_id": account.id}
            raise InactiveAccount(note=note)
        account_id, former, email = account.id, account.password_hash, account.email
        release(self.session)
        self.accounts.passwords.rules.check(new_password, email, "new_password")
        password_hash = self.accounts.passwords.hash(new_password)
        with transaction(self.session):
            changed = set_password(self.accounts, account_id, former, password_hash)
            if changed is None:
                raise InvalidProof
            account = changed
            if not self.accounts.is_email_verified(account):
                self.accounts.verify_email_of(account)
            report_action(self.session, PASSWORD_RESET, account, account_id=account.id)
            notice = self.mails.password_changed(account.email)
            after_commit(self.session, lambda: self.proofs.end_code(account))
            after_commit(
                self.session, lambda: self.failures.reset_and_trust(account.email, address)
            )
            after_commit(self.session, lambda: self.owner_mail.notify(notice))

    def mail(self, email_to: str, token: str, code: str) -> None:
        """Our own recovery mail, which a host may do without."""
        self.owner_mail.send_soon(self.mails.recovery(email_to, token, code))

    def _tell_stranger(self, email: str) -> None:
        """After the work of a recovery, a mail that says why it leads nowhere."""
        self.proofs.issue_unusable(email)
        release(self.session)
        self.owner_mail.send_soon(self.mails.no_account(email))

    def _send(self, email_to: str, token: str, code: str) -> None:
        try:
            self.hooks.recovery_mail(email_to=email_to, username=email_to, token=token, code=code)
        except Exception:
            # A server that is down is not the client's failure, be the mail ours or the host's.
            log.exception("The recovery mail could not be sent")
