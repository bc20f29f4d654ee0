from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ...accounts.addresses import fold
from ...accounts.models import AccountLike
from ...accounts.passwords import Passwords, passwords_off
from ...accounts.service import Accounts, SignInState, state_of
from ...core.db.transaction import AnySession, is_in_use, release, transaction
from ...core.errors import Problem
from ..errors import IncorrectCredentials
from ..limits import Failures
from ..proof_names import PASSWORD
from .options import SignInOptions, note_proof
from .policy import Challenge, SignInPolicy, SignInResult

Result = TypeVar("Result")


class _StateChanged(Exception):
    """The account has changed since the password was compared."""


class _Proved(NamedTuple):
    account_id: object
    # The state when the password was compared.
    state: SignInState
    # A new hash to store in place of the compared one, or None.
    new_hash: str | None


@dataclass(eq=False)
class Login:
    session: AnySession
    accounts: Accounts
    passwords: Passwords
    policy: SignInPolicy
    failures: Failures

    def with_password(
        self, email: str, password: str, options: SignInOptions
    ) -> SignInResult | Challenge:
        def admit(account: AccountLike) -> SignInResult | Challenge:
            return self.policy.admit(account, (PASSWORD,), options)

        try:
            return self._then(admit, email, password, options.ip_address)
        except Problem as problem:
            note_proof(problem, PASSWORD)
            raise

    def verify(self, email: str, password: str, ip_address: str) -> AccountLike:
        """Return the account with this password, within the same limits, without a sign-in."""
        return self._then(lambda account: account, email, password, ip_address)

    def match(self, email: str, password: str, ip_address: str) -> str | None:
        return self._then(lambda account: account.password_hash, email, password, ip_address)

    def _then(
        self, act: Callable[[AccountLike], Result], email: str, password: str, ip_address: str
    ) -> Result:
        if not self.passwords.enabled:
            raise passwords_off()
        # If the stored hash changes in between, the password is compared again.
        for _ in range(2):
            proved = self._prove(email, password, ip_address)
            with suppress(_StateChanged), transaction(self.session):
                return act(self._account(proved))
        raise IncorrectCredentials(note={"account_id": proved.account_id})

    def _prove(self, email: str, password: str, ip_address: str) -> _Proved:
        email = fold(email)
        # If code of the application uses the session, the session stays open.
        in_use = is_in_use(self.session)
        self.failures.check(email, ip_address)
        account_id, password_hash, since = self.accounts.rows.credentials(email)
        if not in_use:
            # A hash takes a quarter of a second: no database connection is held for it.
            release(self.session)
        tried = self.passwords.check(password, password_hash)
        if password_hash is None or not tried.right:
            self.failures.count(email, ip_address)
            raise IncorrectCredentials(note={"account_id": account_id})
        self.failures.accept(email, ip_address)
        new_hash = None
        if tried.renew:
            new_hash = self.passwords.hash(password)
        return _Proved(account_id, SignInState(password_hash, since), new_hash)

    def _account(self, proved: _Proved) -> AccountLike:
        """Return the locked account. Raise _StateChanged if its state has changed since the proof:
        after a reset, the old password is invalid and its hash is not stored again."""
        account = self.accounts.lock(proved.account_id)
        if account is None or state_of(account) != proved.state:
            raise _StateChanged
        if proved.new_hash is not None:
            account.password_hash = proved.new_hash
        return account
