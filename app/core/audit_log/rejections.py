"""Audit log entries of rejected requests, each in a separate transaction.

A rejected request stores nothing else. The security log (`RejectionLog`) decides which are written.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from ..actions import Action, Actions, Row, write_audit_entries
from ..db.transaction import AnySession, has_begun, transaction
from ..request import Origin, rejection_origin
from ..types import Values

log = logging.getLogger(__name__)


@dataclass(eq=False)
class RejectionRecorder:
    session: AnySession
    actions: Actions
    # By the event of the security log.
    rejections: Mapping[str, Action]
    # In the service, the session has no uncommitted changes of other code.
    owns_application: bool

    def record(self, event: str, fields: Values) -> None:
        """Write an entry if the security log's event has an audited action.

        An error is logged and not raised: it must not change the response of a rejected request.
        """
        action = self.rejections.get(event)
        if action is None:
            return
        data = {name: fields[name] for name in action.data if fields.get(name) is not None}
        origin = rejection_origin()
        if "left_out" in data:
            # One entry for many requests has no actor.
            origin = Origin("request", address=fields["address"])
        try:
            self._store(self.actions.row(origin, action.name, fields.get("account_id"), data=data))
        except Exception:
            log.warning("Cannot write the audit log entry of a rejected request", exc_info=True)

    def _store(self, row: Row) -> None:
        if self.owns_application or not has_begun(self.session):
            self.session.rollback()
            with transaction(self.session) as session:
                write_audit_entries(session, [row])
            return
        # The application decides whether to commit what its session has written.
        bind = self.session.get_bind()
        if isinstance(bind, Engine) and not self._holds_sqlite():
            with bind.begin() as connection:
                write_audit_entries(connection, [row])

    def _holds_sqlite(self) -> bool:
        """Return whether the session has the write lock of SQLite, which a second writer needs."""
        connection = self.session.connection()
        if connection.dialect.name != "sqlite":
            return False
        driver: Any = connection.connection.driver_connection
        return bool(driver.in_transaction)
