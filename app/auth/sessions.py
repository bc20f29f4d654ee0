"""From a token to its account, from an account to a token, and the end of both.

There is no session on the server: a token counts while its account stands, was not logged out, and
has had no moment since (password, e-mail, creation) that ended what was issued before.
"""

from __future__ import annotations

from typing import Any, cast

from ..accounts.errors import AccountNotFound
from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..core.clock import Clock
from ..core.events import Emitter
from ..core.http.fields import storable
from ..core.transaction import AnySession, transaction
from ..hooks import Hooks
from .errors import InactiveAccount, InvalidCredentials, TokenExpired
from .revocation import Revocations
from .tokens import Claims, Tokens

LOGGED_IN = "account-logged-in"
LOGGED_OUT = "account-logged-out"


class Sessions:
    def __init__(
        self,
        session: AnySession,
        accounts: Accounts,
        tokens: Tokens,
        revocations: Revocations,
        emitter: Emitter,
        hooks: Hooks,
        clock: Clock,
        *,
        active_statuses: frozenset[str],
        logout_is_final: bool,
    ) -> None:
        self.session = session
        self.accounts = accounts
        self.tokens = tokens
        self.revocations = revocations
        self.emitter = emitter
        self.hooks = hooks
        self.clock = clock
        self.active_statuses = active_statuses
        self.logout_is_final = logout_is_final

    def authenticate(self, token: str) -> AccountLike:
        """The row of the token's account: one look into the keystore and one query."""
        claims = self.tokens.read(token)
        email = claims.email.lower()
        if not storable(email):
            # Nobody's address; neither the keystore nor the database would take the question.
            raise AccountNotFound
        revoked = self.revocations.find(email)
        account = self.accounts.read(email)
        if account is None:
            raise AccountNotFound
        if account.logged_out_at is not None or (
            revoked is not None and revoked == str(account.id)
        ):
            raise TokenExpired
        if not _counts(claims, account):
            raise InvalidCredentials
        return account

    def is_active(self, account: AccountLike) -> bool:
        return account.status in self.active_statuses

    def open(self, account: AccountLike) -> dict[str, Any]:
        """Sign an account in that has proved who it is; the login response's payload."""
        if not self.is_active(account):
            raise InactiveAccount
        with transaction(self.session):
            # The keystore first: in the database it must not wait for our own write.
            self.revocations.lift(account.email, self.session)
            account.logged_out_at = None
            # A host that does without it has None in the column's place.
            if getattr(type(account), "last_login_date", None) is not None:
                cast(Any, account).last_login_date = self.clock.now()
            self.emitter.emit(LOGGED_IN, account, self.session)
            claims = self.hooks.all_claims(account, self.session)
            token, expires = self.tokens.issue(account.email, claims)
            payload = {
                "access_token": token,
                "expires": expires,
                "token_type": "bearer",
                "account": account,
                "user": None,
            }
            return self.hooks.finish(payload, self.session)

    def close(self, account: AccountLike, token: str) -> None:
        """Log an account out, everywhere, until it logs in again.

        The row says so too, which costs nothing to read: a keystore that is flushed, or starts
        empty, brings no token back to life.
        """
        claims = self.tokens.read(token)
        seconds = claims.expires - self.clock.now().timestamp()
        self.revocations.revoke(account.email, account.id, seconds)
        with transaction(self.session):
            account.logged_out_at = self.clock.now()
            if self.logout_is_final:
                self.accounts.end_tokens(account)
            self.emitter.emit(LOGGED_OUT, account, self.session)


def _counts(claims: Claims, account: AccountLike) -> bool:
    """Whether the token is from after the moment from which the account's tokens count."""
    if claims.issued_at is None:
        return account.tokens_valid_from is None
    moment = account.tokens_valid_from or account.created_at
    return bool(claims.issued_at >= moment.timestamp())
