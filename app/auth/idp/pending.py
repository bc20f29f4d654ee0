"""The sign-ins that a browser has begun and not finished, kept in its session.

The session is a signed cookie, so it stays small: the newest few, for some minutes each. A cookie
can be copied and sent again, so which of them are used up is known to the keystore.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, NamedTuple

from ...core.clock import Clock
from ...core.keystore import Keystore
from ...core.types import JsonObject

KEY = "frontdesk_idp"
KEEP = 3
KEEP_SECONDS = 600


class PendingSignIn(NamedTuple):
    """What ties the callback to the browser that began: no other has nonce and verifier."""

    state: str
    redirect_uri: str
    nonce: str
    code_verifier: str


class PendingSignIns:
    def __init__(self, session: MutableMapping[str, Any], keystore: Keystore, clock: Clock) -> None:
        self._session = session
        self._keystore = keystore
        self._now = int(clock.now().timestamp())

    def add(self, pending: PendingSignIn) -> None:
        entry = {**pending._asdict(), "until": self._now + KEEP_SECONDS}
        self._store([*self._live(), entry][-KEEP:])

    def __bool__(self) -> bool:
        return bool(self._live())

    def take(self, redirect_uri: str, state: str | None) -> PendingSignIn | None:
        """The newest with this redirect URI (and this state, where one is told), now used up.

        Of two that take it at once, one receives it.
        """
        live = self._live()
        for entry in reversed(live):
            if entry["redirect_uri"] == redirect_uri and state in (None, entry["state"]):
                self._store([other for other in live if other is not entry])
                if not self._keystore.add(f"idp-state:{entry['state']}", "used", KEEP_SECONDS):
                    return None
                return PendingSignIn(
                    **{name: entry[name] for name in PendingSignIn.__annotations__}
                )
        return None

    def _live(self) -> list[JsonObject]:
        return [entry for entry in self._session.get(KEY, []) if entry["until"] > self._now]

    def _store(self, entries: list[JsonObject]) -> None:
        # An empty session has no cookie at all.
        if entries:
            self._session[KEY] = entries
        else:
            self._session.pop(KEY, None)
