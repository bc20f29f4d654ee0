"""Events in the process, on one emitter for each application (blinker's global one is not used).

A listener receives the subject of the event and an options dict whose `session` is the request's
database session; it runs before the commit and may abort it by raising.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from blinker import Namespace

from .transaction import AnySession

Listener = Callable[[Any, dict[str, Any]], object]


class Emitter:
    def __init__(self) -> None:
        self._signals = Namespace()

    def on(self, event: str, listener: Listener) -> None:
        def receive(subject: Any, options: dict[str, Any]) -> object:
            return listener(subject, options)

        # Held strongly: a listener defined inside a function would otherwise vanish with it.
        self._signals.signal(event).connect(receive, weak=False)

    def emit(self, event: str, subject: Any, session: AnySession) -> int:
        """Tell the listeners, and say how many there were."""
        return len(self._signals.signal(event).send(subject, options={"session": session}))
