"""Events in the process, on one emitter for each application (blinker's global one is not used).

A listener receives the subject of the event and an options dict: `session` is the request's
database session, `origin` says who did it and from where. It runs before the commit and may abort
it by raising.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from blinker import Namespace

from .db.transaction import AnySession
from .hooks import check_known
from .request import current_origin

Listener = Callable[[Any, dict[str, Any]], object]


class Emitter:
    def __init__(self, events: Iterable[str]) -> None:
        self._known = set(events)
        self._signals = Namespace()

    def declare(self, event: str) -> None:
        self._known.add(event)

    def on(self, event: str, listener: Listener) -> None:
        check_event(event, self._known)

        def receive(subject: Any, options: dict[str, Any]) -> object:
            return listener(subject, options)

        # Held strongly: a listener defined inside a function would otherwise vanish with it.
        self._signals.signal(event).connect(receive, weak=False)

    def emit(self, event: str, subject: Any, session: AnySession) -> int:
        """Tell the listeners, and say how many there were."""
        check_event(event, self._known)
        signal = self._signals.signal(event)
        if not signal.receivers:
            return 0
        return len(signal.send(subject, options={"session": session, "origin": current_origin()}))


def check_event(event: str, known: Iterable[str]) -> None:
    """A listener of an event that nobody emits would wait for ever."""
    check_known("event", event, known, f'declared first, with frontdesk.event("{event}")')
