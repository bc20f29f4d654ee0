from __future__ import annotations

from typing import Any

from ..accounts.addresses import fold
from ..accounts.passwords import Passwords
from ..accounts.service import Accounts
from ..core.transaction import AnySession, release, transaction
from .errors import IncorrectCredentials
from .limits import Failures
from .sessions import Sessions


class Login:
    def __init__(
        self,
        session: AnySession,
        accounts: Accounts,
        passwords: Passwords,
        sessions: Sessions,
        failures: Failures,
    ) -> None:
        self.session = session
        self.accounts = accounts
        self.passwords = passwords
        self.sessions = sessions
        self.failures = failures

    def with_password(self, email: str, password: str, address: str) -> dict[str, Any]:
        email = fold(email)
        self.failures.check(email, address)
        account_id, password_hash = self.accounts.credentials(email)
        # A hash takes a quarter of a second: no database connection waits for it.
        release(self.session)
        if not self.passwords.matches(password, password_hash) or password_hash is None:
            self.failures.count(email, address)
            raise IncorrectCredentials
        # Others may have guessed wrong meanwhile; then a right guess is refused like the rest.
        self.failures.check(email, address)
        self.failures.remember(email, address)
        return self._open(account_id, password, password_hash)

    def _open(self, account_id: object, password: str, password_hash: str) -> dict[str, Any]:
        renewed = None
        if self.passwords.is_outdated(password_hash):
            renewed = self.passwords.hash(password)
        with transaction(self.session):
            account = self.accounts.by_id(account_id)
            # A reset may have come in between; the old password opens nothing then.
            if account is None or account.password_hash != password_hash:
                raise IncorrectCredentials
            payload = self.sessions.open(account)
            if renewed is not None:
                account.password_hash = renewed
            return payload
