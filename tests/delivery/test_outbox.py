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
from app.delivery.outbox.enqueue import CountsByChannel, Outbox, counts_by_subject
from app.delivery.outbox.models import Delivery, OutgoingMessage
from app.notifications.retention import delete_deliveries, delete_messages
from app.workspaces.models import Workspace
from app.workspaces.service import Workspaces

from ..rigs.manual_engine import ManualEngine

ORDER, INVOICE = Subject("order", 17), Subject("invoice", 17)
WITHOUT_SCREEN = "Cellar"

Put = Callable[..., CountsByChannel]


class WorkspaceAddressBook:
    """An address book of workspaces, which skips one of them."""

    def entries(self, targets: Select[Any]) -> tuple[Select[Any], ColumnElement[str | None]]:
        has_no_screen = Workspace.name == WITHOUT_SCREEN
        return targets, case((has_no_screen, "It has no screen"), else_=literal(None, String))

    def load(self, ids: Collection[int]) -> Mapping[int, str]:
        found = select(Workspace.id, Workspace.name).where(Workspace.id.in_(ids))
        return {row.id: row.name for row in current_frontdesk.session.execute(found)}

    def skip_reason(self, receiver: str | None) -> str | None:
        return "The workspace is gone" if receiver is None else None


@dataclass
class ScreenChannel:
    """A channel that sends to workspaces."""

    shown: list[str] = field(default_factory=list)
    refuses: bool = False
    name: str = "screens"
    address_book: WorkspaceAddressBook = field(default_factory=WorkspaceAddressBook)

    def disabled_reason(self) -> str | None:
        return None

    @contextmanager
    def open(self) -> Iterator[Send]:
        def send(
            message: StoredMessage, workspace: str, _key: str, before: Callable[[], None]
        ) -> None:
            before()
            if self.refuses:
                raise Refused("The screen is off")
            self.shown.append(f"{workspace}: {message.title}")

        yield send


@pytest.fixture
def screens(app: Flask) -> ScreenChannel:
    screens = ScreenChannel()
    with app.app_context():
        channels = service(Outbox).channels
        channels.built_in = [*channels.built_in, screens]
        for name in ("Attic", "Library", WITHOUT_SCREEN):
            service(Workspaces).create_common(name, name.lower())
    return screens


@pytest.fixture
def put(app: Flask, screens: ScreenChannel) -> Put:
    """Store a message to all workspaces: `put("Fire drill", about=ORDER)`."""

    def put(title: str = "Fire drill", about: Subject | None = None) -> CountsByChannel:
        message = NewMessage(title=title, message="At noon.")
        with app.app_context(), transaction(current_frontdesk.session):
            return service(Outbox).put(message, select(Workspace.id), [screens.name], about)

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
        return found[subject.id]["screens"]


def test_receivers_can_be_other_than_accounts(
    app: Flask, put: Put, engine: ManualEngine, screens: ScreenChannel
) -> None:
    begin = put(about=ORDER)
    assert begin == {"screens": {"pending": 2, "sent": 0, "failed": 0, "skipped": 1}}
    engine.deliver()
    assert sorted(screens.shown) == ["Attic: Fire drill", "Library: Fire drill"]
    assert counts(app, ORDER) == {"pending": 0, "sent": 2, "failed": 0, "skipped": 1}


def test_deleted_receiver_is_skipped_with_the_channels_reason(
    app: Flask, put: Put, engine: ManualEngine, screens: ScreenChannel
) -> None:
    put(about=ORDER)
    with app.app_context():
        session = current_frontdesk.session
        session.delete(service(Workspaces).get("attic"))
        session.commit()
        engine.deliver()
        reasons = session.scalars(select(Delivery.reason).where(Delivery.state == "skipped"))
        assert sorted(filter(None, reasons)) == ["It has no screen", "The workspace is gone"]
    assert screens.shown == ["Library: Fire drill"]


def test_messages_of_one_subject_are_deleted(app: Flask, put: Put) -> None:
    put("Ordered", about=ORDER)
    put("Billed", about=INVOICE)
    put("Fire drill")
    with app.app_context(), transaction(current_frontdesk.session):
        delete_messages(current_frontdesk.session, ORDER)
    assert stored(app) == (2, 6)
    assert counts(app, INVOICE)["pending"] == 2


def test_deleted_messages_are_not_sent(
    app: Flask, put: Put, engine: ManualEngine, screens: ScreenChannel
) -> None:
    put(about=ORDER)
    with app.app_context(), transaction(current_frontdesk.session):
        delete_messages(current_frontdesk.session, ORDER)
    engine.deliver()
    assert screens.shown == []


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
    app: Flask, put: Put, engine: ManualEngine, screens: ScreenChannel
) -> None:
    screens.refuses = True
    put(about=ORDER)
    put(about=INVOICE)
    engine.deliver()
    screens.refuses = False
    engine.woken.clear()
    with app.app_context():
        assert service(Outbox).retry(subject=ORDER) == 2
    assert "screens" in engine.woken
    engine.deliver()
    assert (counts(app, ORDER)["sent"], counts(app, INVOICE)["failed"]) == (2, 2)


def test_channel_without_a_handler_stores_nothing(app: Flask, put: Put) -> None:
    with app.app_context(), transaction(current_frontdesk.session):
        message = NewMessage(title="Hello", message="Is anybody there?")
        assert service(Outbox).put(message, select(Workspace.id), ["pigeon"]) == {}
    assert stored(app) == (0, 0)
