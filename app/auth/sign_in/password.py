from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.addresses import fold
from ...accounts.models import AccountLike
from ...accounts.passwords import Passwords
from ...accounts.service import Accounts
from ...core.db.transaction import AnySession, is_in_use, release, transaction
from ..errors import IncorrectCredentials
from ..limits import Failures
from .gate import Challenge, Gate, Opened
from .proof import PASSWORD


class _Proved(NamedTuple):
    account_id: object
    # The one that the password was compared with, and what is to be stored in its place.
    password_hash: str
    renewed: str | None


@dataclass(eq=False)
class Login:
    session: AnySession
    accounts: Accounts
    passwords: Passwords
    gate: Gate
    failures: Failures

    def with_password(self, email: str, password: str, address: str) -> Opened | Challenge:
        proved = self._prove(email, password, address)
        with transaction(self.session):
            return self.gate.admit(self._account(proved), by=(PASSWORD,))

    def verify(self, email: str, password: str, address: str) -> AccountLike:
        """The account whose password it is, within the same limits; nobody is signed in."""
        proved = self._prove(email, password, address)
        with transaction(self.session):
            return self._account(proved)

    def _prove(self, email: str, password: str, address: str) -> _Proved:
        email = fold(email)
        # Host code around us may have: its session stays as it is.
        in_use = is_in_use(self.session)
        self.failures.check(email, address)
        account_id, password_hash = self.accounts.rows.credentials(email)
        if not in_use:
            # A hash takes a quarter of a second: no database connection waits for it.
            release(self.session)
        tried = self.passwords.check(password, password_hash)
        if password_hash is None or not tried.right:
            self.failures.count(email, address)
            raise IncorrectCredentials(note={"account_id": account_id})
        self.failures.accept(email, address)
        renewed = None
        if tried.renew:
            renewed = self.passwords.hash(password)
        return _Proved(account_id, password_hash, renewed)

    def _account(self, proved: _Proved) -> AccountLike:
        account = self.accounts.by_id(proved.account_id)
        # A reset may have come in between; the old password opens nothing then.
        if account is None or account.password_hash != proved.password_hash:
            raise IncorrectCredentials(note={"account_id": proved.account_id})
        if proved.renewed is not None:
            account.password_hash = proved.renewed
        return account
