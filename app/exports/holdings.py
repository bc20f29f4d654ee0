"""What is held of an account, by every part of the house, and by the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Engine, inspect, select

from ..accounts.models import asked_of
from ..auth.email_change.models import EmailChange
from ..auth.idp.models import Identity
from ..auth.schemas import account_read
from ..core.db.base import Base, autocommitting
from ..core.db.transaction import AnySession
from ..core.hooks import Hooks
from ..core.records.models import Record
from ..core.web.reading import instance
from ..delivery.address_book import AccountAddressBook
from ..delivery.channel import Channels
from ..delivery.outbox.models import Delivery, OutgoingMessage
from ..notifications.models import InboxItem, Notification
from ..profiles.models import PROPERTIES, Profile
from ..storage import FileMissing, FileStore
from ..workspaces.invitations.models import Invitation
from ..workspaces.models import Member, Workspace
from . import statements
from .archive import Archive
from .reading import Pulse, Reading


class DataSubject(NamedTuple):
    id: Any
    # None where nobody has proven to read its mail.
    email: str | None
    # As deliveries name it.
    receiver_id: Any


@dataclass(eq=False)
class Holdings:
    engine: Engine
    hooks: Hooks
    channels: Channels
    # Of pictures.
    files: FileStore
    has_proven_address: Callable[[Any], bool]

    def write(self, archive: Archive, account: Any, session: AnySession, pulse: Pulse) -> None:
        """`pulse` is called again and again, and may end it by raising."""
        archive.json("account.json", account_of(account))
        tables = set(inspect(self.engine).get_table_names())
        reading = Reading(autocommitting(self.engine), pulse)
        owner = DataSubject(
            account.id,
            account.email if self.has_proven_address(account) else None,
            statements.receiver_id(account, session),
        )
        # What follows takes its time, and no transaction waits for it.
        session.rollback()
        for name, models, rows in self._files(owner, reading):
            if tables.issuperset(model.__tablename__ for model in models):
                archive.lines(name, rows)
        if Profile.__tablename__ in tables:
            self._write_profile(archive, owner.id, reading)
        self._write_hosts(archive, account, session, pulse)

    def _files(
        self, owner: DataSubject, reading: Reading
    ) -> Iterator[tuple[str, tuple[type[Base], ...], Iterator[Mapping[str, Any]]]]:
        workspaces = reading.rows(statements.workspaces(owner.id))
        yield "workspaces.jsonl", (Member, Workspace), workspaces
        invitations = reading.rows(statements.invitations(owner.id, owner.email))
        yield "invitations.jsonl", (Invitation, Workspace), invitations
        yield "identities.jsonl", (Identity,), reading.rows(statements.identities(owner.id))
        changes = reading.rows(statements.email_changes(owner.id))
        yield "email_changes.jsonl", (EmailChange,), changes
        yield self._sessions(owner, reading)
        yield from self._factors(owner, reading)
        yield "inbox.jsonl", (InboxItem, Notification), reading.rows(statements.inbox(owner.id))
        yield "sent.jsonl", (Notification,), reading.rows(statements.sent(owner.id))
        events = reading.rows(statements.events(owner.id), "at", "id")
        yield "events.jsonl", (Record,), (statements.seen_by(owner.id, row) for row in events)
        sent = statements.deliveries(owner.receiver_id, self._to_accounts())
        deliveries = reading.stretches(sent, Delivery.id)
        yield "deliveries.jsonl", (Delivery, OutgoingMessage), deliveries

    def _sessions(
        self, owner: DataSubject, reading: Reading
    ) -> tuple[str, tuple[type[Base], ...], Iterator[Mapping[str, Any]]]:
        # Here and not above: most applications do without them.
        from ..auth.sessions.models import AccountSession

        rows = reading.rows(statements.sessions(AccountSession, owner.id))
        return "sessions.jsonl", (AccountSession,), rows

    def _factors(
        self, owner: DataSubject, reading: Reading
    ) -> Iterator[tuple[str, tuple[type[Base], ...], Iterator[Mapping[str, Any]]]]:
        # Here and not above: most applications do without them.
        from ..auth.mfa.models import Authenticator, RecoveryCode, TrustedDevice
        from . import factor_statements

        rows = reading.rows(factor_statements.authenticators(owner.id))
        yield "authenticators.jsonl", (Authenticator,), rows
        rows = reading.rows(factor_statements.recovery_codes(owner.id))
        yield "recovery_codes.jsonl", (RecoveryCode,), rows
        rows = reading.rows(factor_statements.trusted_devices(owner.id))
        yield "trusted_devices.jsonl", (TrustedDevice,), rows

    def _to_accounts(self) -> list[str]:
        """On other channels, a receiver of the same id is somebody else."""
        names = self.channels.names()
        found = {name: self.channels.get(name) for name in names}
        return [
            name
            for name, channel in found.items()
            if channel is not None and isinstance(channel.address_book, AccountAddressBook)
        ]

    def _write_profile(self, archive: Archive, account_id: Any, reading: Reading) -> None:
        for row in reading.rows(select(Profile.__table__).where(Profile.account_id == account_id)):
            archive.json(
                "profile.json",
                {**row["extra"], **{name: row[name] for name in sorted(PROPERTIES)}},
            )
            if (name := row["avatar_file"]) is not None:
                try:
                    archive.bytes(f"avatar.{name.rpartition('.')[2]}", self.files.read(name))
                except FileMissing:
                    continue

    def _write_hosts(
        self, archive: Archive, account: Any, session: AnySession, pulse: Pulse
    ) -> None:
        for folder, exporter in self.hooks.named("exporter").items():
            for name, content in exporter(account, session):
                pulse()
                archive.foreign(folder, name, content)


def account_of(account: Any) -> dict[str, Any]:
    """What we ask of an account, and what its owner is shown of it; of its password nothing."""
    names = (name for name in asked_of(type(account)) if name != "password_hash")
    held = {name: getattr(account, name) for name in names}
    dumped: dict[str, Any] = instance(account_read()).dump(account)
    return {**held, **dumped}
