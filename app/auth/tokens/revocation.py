"""Sign-outs in the shared state store, for other programs.

The account's row (`logged_out_at`) decides, and nothing here reads the store. The API contract
promises the email address of a signed-out account there too: it is stored and removed after the
commit. A store that is out of reach is logged, and the sign-out or sign-in stands.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from ...core.db.transaction import AnySession, after_commit
from ...core.keystore import Keystore, KeystoreUnavailable

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Revocations:
    keystore: Keystore
    longest_token_seconds: int

    def store(
        self, session: AnySession, email: str, account_id: object, token_seconds: float
    ) -> None:
        """For as long as any token from before may live. The value is the account's id: the email
        address may pass to another account."""
        seconds = max(self.longest_token_seconds, int(token_seconds) + 1)
        key, value = _key(email), str(account_id)
        after_commit(session, lambda: _try(lambda: self.keystore.put(key, value, seconds)))

    def remove(self, session: AnySession, email: str) -> None:
        key = _key(email)
        after_commit(session, lambda: _try(lambda: self.keystore.drop(key)))


def _try(write: Callable[[], object]) -> None:
    try:
        write()
    except KeystoreUnavailable:
        log.warning("The state store is out of reach: it does not show a sign-in or sign-out.")


def _key(email: str) -> str:
    return f"revoked:{email}"
