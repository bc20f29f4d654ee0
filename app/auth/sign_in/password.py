from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ...accounts.addresses import fold
from ...accounts.holding import held_with
from ...accounts.models import AccountLike
from ...accounts.passwords import Passwords
from ...accounts.service import Accounts
from ...core.db.transaction import AnySession, is_in_use, release, transaction
from ..errors import IncorrectCredentials
from ..limits import Failures
from .gate import Challenge, Gate, Opened
from .proof import PASSWORD

Result = TypeVar("Result")


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
        return self._then(
            lambda account: self.gate.admit(account, by=(PASSWORD,)), email, password, address
        )

    def verify(self, email: str, password: str, address: str) -> AccountLike:
        """The account whose password it is, within the same limits; nobody is signed in."""
        return self._then(lambda account: account, email, password, address)

    def match(self, email: str, password: str, address: str) -> str | None:
        """The hash that goes with it, as it is stored from here on."""
        matched: str | None = self._then(
            lambda account: account.password_hash, email, password, address
        )
        return matched

    def _then(
        self, act: Callable[[AccountLike], Result], email: str, password: str, address: str
    ) -> Result:
        # Another sign-in may renew the hash in between; then the one that it has stored decides.
        for _ in range(2):
            proved = self._prove(email, password, address)
            with transaction(self.session):
                account = self._account(proved)
                if account is not None:
                    return act(account)
        raise IncorrectCredentials(note={"account_id": proved.account_id})

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

    def _account(self, proved: _Proved) -> AccountLike | None:
        """None where another hash is stored by now: of a password that was reset, the old one opens
        nothing, nor does its hash come back."""
        if proved.renewed is not None:
            account = held_with(self.accounts, proved.account_id, proved.password_hash)
            if account is not None:
                account.password_hash = proved.renewed
            return account
        account = self.accounts.by_id(proved.account_id)
        unchanged = account is not None and account.password_hash == proved.password_hash
        return account if unchanged else None
