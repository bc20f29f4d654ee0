from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass

from sqlalchemy import select

from ..core.db.transaction import AnySession
from ..core.keystore import Keystore

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Readiness:
    session: AnySession
    keystore: Keystore

    def check(self) -> dict[str, str]:
        """Both at once: a silent one takes seconds to be found out."""
        with ThreadPoolExecutor(1) as aside:
            # With the context of the request: a keystore in the database finds its engine by it.
            keystore = aside.submit(copy_context().run, _state, "keystore", self.keystore.ping)
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
