from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import select

from ..core.keystore import Keystore
from ..core.transaction import AnySession

log = logging.getLogger(__name__)


class Readiness:
    def __init__(self, session: AnySession, keystore: Keystore) -> None:
        self.session = session
        self.keystore = keystore

    def check(self) -> dict[str, str]:
        """Both at once: a silent one takes seconds to be found out."""
        with ThreadPoolExecutor(1) as aside:
            keystore = aside.submit(_state, "keystore", self.keystore.ping)
            database = _state("database", lambda: self.session.execute(select(1)))
            return {"database": database, "keystore": keystore.result()}


def _state(name: str, reach: Callable[[], object]) -> str:
    try:
        reach()
    except Exception as error:
        # Whatever a driver raises here, the finding is the same.
        log.warning("The %s is out of reach: %s", name, type(error).__name__)
        return "down"
    return "ok"
