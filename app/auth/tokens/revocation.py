"""Logout: while an account's e-mail stands in the keystore, none of its tokens count.

The value is the account's id, so that an address which passes to another account does not bring
the revocation along.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.db.transaction import AnySession, after_rollback
from ...core.keystore import Keystore


@dataclass(eq=False)
class Revocations:
    keystore: Keystore
    longest_token_seconds: int

    def revoke(self, email: str, account_id: object, token_seconds: float) -> None:
        """Remembered for as long as any token from before may live."""
        seconds = max(self.longest_token_seconds, int(token_seconds) + 1)
        self.keystore.put(_key(email), str(account_id), seconds)

    def find(self, email: str) -> str | None:
        """The id of the account that is revoked under this e-mail."""
        return self.keystore.get(_key(email))

    def lift(self, email: str, session: AnySession) -> None:
        """End a revocation within a login; it stands again if the login comes to nothing."""
        key = _key(email)
        if self.keystore.get(key) is None:
            return
        seconds = self.keystore.remaining(key)
        revoked = self.keystore.take(key)
        if revoked is not None:
            after_rollback(session, lambda: self.keystore.put(key, revoked, max(1, seconds)))


def _key(email: str) -> str:
    return f"revoked:{email}"
