import logging
from collections.abc import Callable
from dataclasses import dataclass

from ..accounts.addresses import fold
from ..accounts.errors import AccountNotFound
from ..accounts.models import PENDING, AccountLike
from ..accounts.service import Accounts
from ..core.coded_messages import UNCHANGED
from ..core.context import BasicService, report_action
from ..core.db.transaction import after_commit, release, transaction
from ..core.errors import Invalid
from ..delivery.mail.one_off import OwnerMail
from .actions import PASSWORD_RESET, PASSWORD_RESET_REQUESTED
from .errors import InactiveAccount, InvalidProof
from .limits import Failures
from .mails import Mails
from .passwords import set_password
from .proofs import AccountProofs

log = logging.getLogger(__name__)

# The purpose of the proofs.
RECOVERY = "recovery"


@dataclass(eq=False)
class Recovery(BasicService):
    accounts: Accounts
    proofs: AccountProofs
    # Counts a request by its email address and IP address.
    count: Callable[[str, str], None]
    # Unknown addresses get the response of known ones.
    hides_accounts: bool
    failures: Failures
    mails: Mails
    owner_mail: OwnerMail

    def request(self, email: str, ip_address: str) -> None:
        """Email a token and a code to the owner of the account, active or not."""
        email = fold(email)
        self.count(email, ip_address)
        account = self.accounts.find(email)
        if account is None and not self.hides_accounts:
            raise AccountNotFound(note={"event": "recovery_request"})
        account_id = None if account is None else account.id
        with transaction(self.session) as session:
            report_action(session, PASSWORD_RESET_REQUESTED, account_id=account_id)
        if account is None:
            self._send_no_account(email)
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
        """Email a token and a code without a request, after the owner was verified. Without
        passwords, the owner signs in with another method."""
        if not self.accounts.passwords.enabled:
            return
        self._send(account.email, *self.proofs.issue(account))

    def verify(self, token: str, email: str | None) -> None:
        """Raise InvalidProof for an invalid token or code. A valid one stays valid."""
        self.proofs.find(token, email)

    def reset(self, token: str, email: str | None, new_password: str, ip_address: str) -> None:
        """Set a password. Of simultaneous requests with the same token, one succeeds."""
        account = self.proofs.find(token, email)
        if not self.accounts.is_active(account) and account.status != PENDING:
            note = {"event": "password_reset", "account_id": account.id}
            raise InactiveAccount(note=note)
        account_id, former, email = account.id, account.password_hash, account.email
        release(self.session)
        passwords = self.accounts.passwords
        passwords.rules.check_new_password(new_password, email, "new_password")
        # The user may reset the password because another person knows it.
        if former is not None and passwords.matches(new_password, former):
            raise Invalid.about("new_password", UNCHANGED)
        password_hash = passwords.hash(new_password)
        with transaction(self.session) as session:
            changed = set_password(self.accounts, account_id, former, password_hash)
            if changed is None:
                raise InvalidProof
            account = changed
            if not self.accounts.is_email_verified(account):
                self.accounts.verify_email_of(account)
            report_action(session, PASSWORD_RESET, account, account_id=account.id)
            notice = self.mails.password_changed(account.email)
            after_commit(session, lambda: self.proofs.end_code(account))
            after_commit(session, lambda: self.failures.reset_and_trust(account.email, ip_address))
            after_commit(session, lambda: self.owner_mail.notify(notice))

    def mail(self, email_to: str, token: str, code: str) -> None:
        """Send the default recovery email, which an application can replace."""
        self.owner_mail.send_soon(self.mails.recovery(email_to, token, code))

    def _send_no_account(self, email: str) -> None:
        """Email that the address has no account, after the same work as for an account."""
        self.proofs.issue_unusable(email)
        release(self.session)
        self.owner_mail.send_soon(self.mails.no_account(email))

    def _send(self, email_to: str, token: str, code: str) -> None:
        try:
            self.hooks.recovery_mail(email_to=email_to, username=email_to, token=token, code=code)
        except Exception:
            # An error of the mail server or of the hook is not an error of the client.
            log.exception("The recovery email could not be sent")
