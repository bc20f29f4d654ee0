"""Sign-ins that a browser has begun and not finished, stored in its session.

The session is a signed cookie, so it has only the newest few, each for some minutes. A cookie can
be copied and replayed, so the state store has the used ones.
"""

from collections.abc import MutableMapping
from typing import Any, NamedTuple

from ...core.clock import Clock
from ...core.keystore import Keystore
from ...core.types import AccountKey, JsonObject
from .provider import DEFAULT

KEY = "frontdesk_idp"
MAX_PENDING = 3
VALID_SECONDS = 600
# A sign-in that does not link an identity to a signed-in account.
SIGN_IN = "sign-in"


def link_purpose(account_id: AccountKey) -> str:
    """Return the purpose of a link that the owner of an account has begun."""
    return f"link:{account_id}"


class PendingSignIn(NamedTuple):
    """Binds the callback to the browser that began: no other browser has nonce and verifier."""

    state: str
    redirect_uri: str
    nonce: str
    code_verifier: str
    provider: str = DEFAULT
    purpose: str = SIGN_IN


class PendingSignIns:
    def __init__(self, session: MutableMapping[str, Any], keystore: Keystore, clock: Clock) -> None:
        self._session = session
        self._keystore = keystore
        self._now = int(clock.now().timestamp())

    def add(self, pending: PendingSignIn) -> None:
        entry = {**pending._asdict(), "until": self._now + VALID_SECONDS}
        self._store([*self._valid(), entry][-MAX_PENDING:])

    def __bool__(self) -> bool:
        return bool(self._valid())

    def is_link(self, state: str | None) -> bool:
        """Return whether an owner has begun a link with this state, for any account."""
        links = [found for found in self._valid() if found.get("purpose", SIGN_IN) != SIGN_IN]
        return state in [found["state"] for found in links]

    def take(
        self, redirect_uri: str, state: str | None, provider: str, purpose: str = SIGN_IN
    ) -> PendingSignIn | None:
        """Use up the newest sign-in with these values, and this state if given.

        Return None without such a sign-in, or if another request has used it up.
        """
        valid = self._valid()
        for entry in reversed(valid):
            found = PendingSignIn(
                **{name: entry[name] for name in PendingSignIn._fields if name in entry}
            )
            wanted = redirect_uri, provider, purpose
            begun = found.redirect_uri, found.provider, found.purpose
            if begun == wanted and state in (None, found.state):
                self._store([other for other in valid if other is not entry])
                if not self._keystore.add(f"idp-state:{found.state}", "used", VALID_SECONDS):
                    return None
                return found
        return None

    def _valid(self) -> list[JsonObject]:
        return [entry for entry in self._session.get(KEY, []) if entry["until"] > self._now]

    def _store(self, entries: list[JsonObject]) -> None:
        # An empty session sets no cookie.
        if entries:
            self._session[KEY] = entries
        else:
            self._session.pop(KEY, None)
