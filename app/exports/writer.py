"""Writes the files of one data export: those of each package, then those of the application."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, String, cast, inspect, select

from ..accounts.models import asked_of
from ..auth.schemas import account_read
from ..core.data_export import DataSubject, Exporter, Pulse, Reading
from ..core.db.account_ids import LONGEST_TEXT, WholeIds, kind_of
from ..core.db.base import autocommitting
from ..core.db.transaction import AnySession
from ..core.hooks import Hooks
from ..core.web.reading import instance
from .archive import Archive


@dataclass(eq=False)
class ExportWriter:
    engine: Engine
    hooks: Hooks
    exporters: Sequence[Exporter]
    is_email_verified: Callable[[Any], bool]

    def write(self, archive: Archive, account: Any, session: AnySession, pulse: Pulse) -> None:
        """Write all files. `pulse` is called before each statement and may raise to stop."""
        archive.json("account.json", _account_data(account))
        tables = frozenset(inspect(self.engine).get_table_names())
        reading = Reading(autocommitting(self.engine), tables, pulse)
        subject = DataSubject(
            account.id,
            account.email if self.is_email_verified(account) else None,
            _receiver_id(account, session),
        )
        # The exporters take long: no transaction stays open for them.
        session.rollback()
        for exporter in self.exporters:
            for name, content in exporter(subject, reading):
                _write_file(archive, name, content)
        for folder, application_exporter in self.hooks.named("exporter").items():
            for name, content in application_exporter(account, session):
                pulse()
                archive.foreign(folder, name, content)


def _write_file(archive: Archive, name: str, content: Any) -> None:
    if name.endswith(".jsonl"):
        archive.lines(name, content)
    elif isinstance(content, bytes):
        archive.bytes(name, content)
    else:
        archive.json(name, content)


def _account_data(account: Any) -> dict[str, Any]:
    """Return all columns that Frontdesk uses and all that the owner may read, without the hash."""
    names = (name for name in asked_of(type(account)) if name != "password_hash")
    columns = {name: getattr(account, name) for name in names}
    readable: dict[str, Any] = instance(account_read()).dump(account)
    return {**columns, **readable}


def _receiver_id(account: Any, session: AnySession) -> Any:
    """Return the id as the outbox stores it: the database casts ids that are no integers."""
    key = type(account).id
    [column] = select(key).selected_columns
    if isinstance(kind_of(column.type), WholeIds):
        return account.id
    return session.scalar(select(cast(key, String(LONGEST_TEXT))).where(key == account.id))
