from __future__ import annotations

import logging

from sqlalchemy import update

from ..accounts.addresses import fold
from ..accounts.errors import AccountNotFound
from ..accounts.models import AccountLike
from ..accounts.passwords import Passwords
from ..accounts.service import Accounts
from ..core.clock import Clock
from ..core.errors import Invalid
from ..core.events import Emitter
from ..core.transaction import AnySession, after_commit, release, transaction
from ..delivery.post import Post
from ..hooks import Hooks
from .errors import InactiveAccount, InvalidResetToken
from .limits import Failures, RecoveryRequests
from .mails import Mails
from .reset_tokens import ResetTokens
from .sessions import Sessions

log = logging.getLogger(__name__)

PASSWORD_RESET = "password-reset"


class Recovery:
    def __init__(
        self,
        session: AnySession,
        accounts: Accounts,
        passwords: Passwords,
        sessions: Sessions,
        reset_tokens: ResetTokens,
        requests: RecoveryRequests,
        failures: Failures,
        emitter: Emitter,
        hooks: Hooks,
        mails: Mails,
        post: Post,
        clock: Clock,
    ) -> None:
        self.session = session
        self.accounts = accounts
        self.passwords = passwords
        self.sessions = sessions
        self.reset_tokens = reset_tokens
        self.requests = requests
        self.failures = failures
        self.emitter = emitter
        self.hooks = hooks
        self.mails = mails
        self.post = post
        self.clock = clock

    def request(self, email: str, address: str) -> None:
        """Mail a token and a code to the account's owner, active or not."""
        email = fold(email)
        self.requests.count(email, address)
        account = self.accounts.find(email)
        if account is None:
            raise AccountNotFound
        token, code = self.reset_tokens.issue(account)
        email_to = account.email
        release(self.session)
        self._send(email_to, token, code)

    def verify(self, token: str, email: str | None) -> None:
        """Say whether a token or code counts; nothing is used up."""
        self.reset_tokens.find(token, email)

    def reset(self, token: str, email: str | None, new_password: str) -> None:
        """Set a password. Of two at once with the same token, one wins."""
        account = self.reset_tokens.find(token, email)
        if not self.sessions.is_active(account):
            raise InactiveAccount
        if new_password.lower() == account.email.lower():
            raise Invalid.field("json", "new_password", "Must not be the email address.")
        account_id, former = account.id, account.password_hash
        release(self.session)
        password_hash = self.passwords.hash(new_password)
        with transaction(self.session):
            account = self._replace(account_id, former, password_hash)
            self.emitter.emit(PASSWORD_RESET, account, self.session)
            notice = self.mails.password_changed(account.email)
            after_commit(self.session, lambda: self.reset_tokens.end_code(account))
            after_commit(self.session, lambda: self.failures.forgive(account.email))
            after_commit(self.session, lambda: self.post.send_soon(notice))

    def _replace(self, account_id: object, former: str | None, password_hash: str) -> AccountLike:
        """Set the hash only where the former one still stands: the second of two finds it gone."""
        model = self.accounts.model
        changed = self.session.execute(
            update(model)
            .where(model.id == account_id, model.password_hash.is_not_distinct_from(former))
            .values(password_hash=password_hash, tokens_valid_from=self.clock.now())
            .returning(model.id)
            .execution_options(synchronize_session=False)
        ).one_or_none()
        account = self.accounts.by_id(account_id) if changed else None
        if account is None:
            raise InvalidResetToken
        return account

    def _send(self, email_to: str, token: str, code: str) -> None:
        send = self.hooks.recovery_mail
        if send is None:
            self.post.send_soon(self.mails.recovery(email_to, token, code))
            return
        try:
            send(email_to=email_to, username=email_to, token=token, code=code)
        except Exception:
            # As with our own mail, a server that is down is not the client's failure.
            log.exception("The host's recovery mail could not be sent")
