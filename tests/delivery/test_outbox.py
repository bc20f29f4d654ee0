"""The outbox: storing messages for any kind of receiver, counting and deleting them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import ColumnElement, Select, String, case, func, literal, select

from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.delivery.channel import Send
from app.delivery.errors import Refused
from app.delivery.message import NewMessage, StoredMessage, Subject
from app.delivery.outbox.deletion import delete_deliveries, delete_messages
from app.delivery.outbox.enqueue import CountsByChannel, Outbox, counts_by_subject
from app.delivery.outbox.models import Delivery, OutgoingMessage
from app.testing.outbox import ManualEngine
from app.workspaces.models import Workspace
from app.workspaces.service import Workspaces

ORDER, INVOICE = Subject("order", 17), Subject("invoice", 17)
WITHOUT_A_DOOR = "Cellar"

Put = Callable[..., CountsByChannel]


class Rooms:
    """An address book of workspaces."""

    def entries(self, targets: Select[Any]) -> tuple[Select[Any], ColumnElement[str | None]]:
        cellar = Workspace.name == WITHOUT_A_DOOR
        return targets, case((cellar, "It has no door"), else_=literal(None, String))

    def load(self, ids: Collection[int]) -> Mapping[int, str]:
        found = select(Workspace.id, Workspace.name).where(Workspace.id.in_(ids))
        return {row.id: row.name for row in current_frontdesk.session.execute(found)}

    def skip_reason(self, receiver: str | None) -> str | None:
        return "The workspace is gone" if receiver is None else None


@dataclass
class Doorbell:
    """A channel with receivers other than accounts."""

    rung: list[str] = field(default_factory=list)
    refuses: bool = False
    name: str = "doorbell"
    address_book: Rooms = field(default_factory=Rooms)

    def disabled_reason(self) -> str | None:
        return None

    @contextmanager
    def open(self) -> Iterator[Send]:
        def send(message: StoredMessage, room: str, _key: str, before: Callable[[], None]) -> None:
            before()
            if self.refuses:
                raise Refused("The door is closed")
            self.rung.append(f"{room}: {message.title}")

        yield send


@pytest.fixture
def doorbell(app: Flask) -> Doorbell:
    doorbell = Doorbell()
    with app.app_context():
        channels = service(Outbox).channels
        channels.built_in = [*channels.built_in, doorbell]
        for name in ("Attic", "Library", WITHOUT_A_DOOR):
            service(Workspaces).create_common(name, name.lower())
    return doorbell


@pytest.fixture
def put(app: Flask, doorbell: Doorbell) -> Put:
    """A message to all workspaces: `put("Fire drill", about=ORDER)`."""

    def put(title: str = "Fire drill", about: Subject | None = None) -> CountsByChannel:
        message = NewMessage(title=title, message="At noon.")
        with app.app_context(), transaction(current_frontdesk.session):
            return service(Outbox).put(message, select(Workspace.id), [doorbell.name], about)

    return put


def stored(app: Flask) -> tuple[int, int]:
    """Return the numbers of messages and deliveries."""
    with app.app_context():
        count = current_frontdesk.session.scalar
        return (
            count(select(func.count(OutgoingMessage.id))) or 0,
            count(select(func.count(Delivery.id))) or 0,
        )


def counts(app: Flask, subject: Subject) -> dict[str, int]:
    with app.app_context():
        found = counts_by_subject(current_frontdesk.session, subject.kind, [subject.id])
        return found[subject.id]["doorbell"]


def test_receivers_can_be_other_than_accounts(
    app: Flask, put: Put, engine: ManualEngine, doorbell: Doorbell
) -> None:
    begin = put(about=ORDER)
    assert begin == {"doorbell": {"pending": 2, "sent": 0, "failed": 0, "skipped": 1}}
    engine.deliver()
    assert sorted(doorbell.rung) == ["Attic: Fire drill", "Library: Fire drill"]
    assert counts(app, ORDER) == {"pending": 0, "sent": 2, "failed": 0, "skipped": 1}


def test_deleted_receiver_is_skipped_with_the_channels_reason(
    app: Flask, put: Put, engine: ManualEngine, doorbell: Doorbell
) -> None:
    put(about=ORDER)
    with app.app_context():
        session = current_frontdesk.session
        session.delete(service(Workspaces).get("attic"))
        session.commit()
        engine.deliver()
        reasons = session.scalars(select(Delivery.reason).where(Delivery.state == "skipped"))
        assert sorted(filter(None, reasons)) == ["It has no door", "The workspace is gone"]
    assert doorbell.rung == ["Library: Fire drill"]


def test_messages_of_one_subject_are_deleted(app: Flask, put: Put) -> None:
    put("Ordered", about=ORDER)
    put("Billed", about=INVOICE)
    put("Fire drill")
    with app.app_context(), transaction(current_frontdesk.session):
        delete_messages(current_frontdesk.session, ORDER)
    assert stored(app) == (2, 6)
    assert counts(app, INVOICE)["pending"] == 2


def test_deleted_messages_are_not_sent(
    app: Flask, put: Put, engine: ManualEngine, doorbell: Doorbell
) -> None:
    put(about=ORDER)
    with app.app_context(), transaction(current_frontdesk.session):
        delete_messages(current_frontdesk.session, ORDER)
    engine.deliver()
    assert doorbell.rung == []


def test_deletion_belongs_to_the_transaction(app: Flask, put: Put) -> None:
    put(about=ORDER)

    def fail() -> None:
        with transaction(current_frontdesk.session):
            delete_messages(current_frontdesk.session, ORDER)
            raise ValueError("the order stays")

    with app.app_context(), pytest.raises(ValueError, match="the order stays"):
        fail()
    assert stored(app) == (1, 3)


def test_deliveries_are_deleted_in_batches(app: Flask, put: Put) -> None:
    put(about=ORDER)
    put(about=INVOICE)
    with app.app_context():
        assert delete_deliveries(current_frontdesk.session, ORDER, batch=2) == 3
    assert stored(app) == (2, 3)


def test_failed_deliveries_of_one_subject_are_retried(
    app: Flask, put: Put, engine: ManualEngine, doorbell: Doorbell
) -> None:
    doorbell.refuses = True
    put(about=ORDER)
    put(about=INVOICE)
    engine.deliver()
    doorbell.refuses = False
    engine.woken.clear()
    with app.app_context():
        assert service(Outbox).retry(subject=ORDER) == 2
    assert "doorbell" in engine.woken
    engine.deliver()
    assert (counts(app, ORDER)["sent"], counts(app, INVOICE)["failed"]) == (2, 2)


def test_channel_without_a_handler_stores_nothing(app: Flask, put: Put) -> None:
    with app.app_context(), transaction(current_frontdesk.session):
        message = NewMessage(title="Hello", message="Is anybody there?")
        assert service(Outbox).put(message, select(Workspace.id), ["pigeon"]) == {}
    assert stored(app) == (0, 0)
