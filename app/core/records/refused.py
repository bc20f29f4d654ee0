"""Records of what was refused: nothing else is stored then, so that each is a transaction of its
own. The security log samples them (`Refusals`), for the log and for these."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from ..actions import Action, Actions, Row, write_records
from ..db.transaction import AnySession, has_begun, transaction
from ..request import Origin, current_origin

log = logging.getLogger(__name__)


@dataclass(eq=False)
class RefusalKeeper:
    session: AnySession
    actions: Actions
    # By the event of the security log.
    refusals: Mapping[str, Action]
    # Whether whoever is refused has left nothing in the session that somebody still wants.
    owns_application: bool

    def keep(self, event: str, facts: Mapping[str, Any]) -> None:
        """Of the security log's event, where there are records of such refusals. A request that is
        refused is answered so, whether or not that can be written down."""
        action = self.refusals.get(event)
        if action is None:
            return
        data = {name: facts[name] for name in action.data if facts.get(name) is not None}
        origin = current_origin()
        if "left_out" in data:
            # Of many, whoever they were.
            origin = Origin("request", address=facts["address"])
        try:
            self._store(self.actions.row(origin, action.name, facts.get("account_id"), data=data))
        except Exception:
            log.warning("A refusal could not be recorded", exc_info=True)

    def _store(self, row: Row) -> None:
        if self.owns_application or not has_begun(self.session):
            self.session.rollback()
            with transaction(self.session):
                write_records(self.session, [row])
            return
        # A host's session has something in hand, which is the host's to commit or to undo.
        bind = self.session.get_bind()
        if isinstance(bind, Engine) and not self._holds_sqlite():
            with bind.begin() as connection:
                write_records(connection, [row])

    def _holds_sqlite(self) -> bool:
        """It has one writer, and would wait here for itself."""
        connection = self.session.connection()
        if connection.dialect.name != "sqlite":
            return False
        driver: Any = connection.connection.driver_connection
        return bool(driver.in_transaction)
