"""Message-IDs, as a mail server sees them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from flask import Flask
from sqlalchemy import create_engine, delete, make_url, update

from app.core.context import current_frontdesk
from app.core.db.transaction import transaction
from app.delivery.mail.message_ids import Installation, MessageIds
from app.delivery.mail.mime import Writer
from app.delivery.message import Email
from app.delivery.outbox.models import PENDING, Delivery
from app.testing.clock import SteppingClock

from ..conftest import Backend, MakeApp, MakePerson, only_on
from ..rigs.manual_engine import ManualEngine
from ..rigs.smtp import Sink, smtp_sink

DATA = {"title": "Closed", "message": "On Friday.", "channels": ["inapp", "email"]}


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


def mail_settings(sink: Sink) -> dict[str, str]:
    return {"MAIL_SERVER": "127.0.0.1", "MAIL_PORT": str(sink.port)}


def message_ids(sink: Sink) -> list[str]:
    return [str(each.message["Message-ID"]) for each in sink.received]


def send_again(app: Flask) -> None:
    """Send again, as after a worker was killed before it recorded the result."""
    with app.app_context(), transaction(current_frontdesk.session):
        again = update(Delivery).values(state=PENDING, due_at=current_frontdesk.clock.now())
        current_frontdesk.session.execute(again)


def test_retries_of_one_delivery_have_one_message_id(
    make_app: MakeApp, person: MakePerson, sink: Sink, engine: ManualEngine
) -> None:
    app = make_app(**mail_settings(sink))
    boss = person("boss", into=app, role="admin")
    person("ada", into=app)
    boss.api().post("/admin/notifications", 201, json={"data": DATA})
    engine.deliver()
    later = make_app(**mail_settings(sink))
    send_again(later)
    engine.deliver()
    ids = message_ids(sink)
    assert len(ids) == 4
    assert set(ids[:2]) == set(ids[2:])
    assert len(set(ids)) == 2


@only_on("sqlite")
def test_installations_with_the_same_rows_have_other_message_ids(
    make_app: MakeApp,
    person: MakePerson,
    sink: Sink,
    engine: ManualEngine,
    backend: Backend,
    tmp_path: Path,
) -> None:
    staging = tmp_path / "staging.db"
    shutil.copy(str(make_url(backend.database_url).database), staging)
    for url in (backend.database_url, f"sqlite:///{staging}"):
        app = make_app(CORE__DATABASE_URL=url, **mail_settings(sink))
        boss = person("boss", into=app, role="admin")
        boss.api().post("/admin/notifications", 201, json={"data": DATA})
        engine.deliver()
    one, other = message_ids(sink)
    assert one != other


def test_restored_copy_gets_another_id_when_its_row_is_deleted(
    make_app: MakeApp, person: MakePerson, sink: Sink, engine: ManualEngine
) -> None:
    app = make_app(**mail_settings(sink))
    boss = person("boss", into=app, role="admin")
    boss.api().post("/admin/notifications", 201, json={"data": DATA})
    engine.deliver()
    with app.app_context(), transaction(current_frontdesk.session):
        current_frontdesk.session.execute(delete(Installation))
    later = make_app(**mail_settings(sink))
    send_again(later)
    engine.deliver()
    one, other = message_ids(sink)
    assert one != other


def test_concurrent_first_processes_share_the_secret(app: Flask, clock: SteppingClock) -> None:
    with app.app_context():
        engine = app.extensions["sqlalchemy"].engine
    barrier = Barrier(8)

    def derive(_: int) -> str:
        barrier.wait()
        return MessageIds(engine, clock).derive("1.1")

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(derive, range(8)))) == 1


def test_transactional_email_has_a_random_message_id_and_keeps_it_for_retries() -> None:
    writer = Writer("desk@example.com")
    email = Email("ada@example.com", "Hello", "text", "")
    messages = [writer.write(email, SteppingClock().now()) for _ in range(2)]
    assert messages[0].message_id != messages[1].message_id
    for message in messages:
        assert f"Message-ID: {message.message_id}\r\n".encode() in message.data
        assert re.fullmatch(r"<[0-9a-f]{32}@example\.com>", str(message.message_id))


@pytest.mark.usefixtures("app")
def test_message_id_does_not_show_ids_of_rows(backend: Backend, clock: SteppingClock) -> None:
    engine = create_engine(backend.database_url)
    derive = MessageIds(engine, clock).derive
    found = {derive(f"{message}.{delivery}") for message in (1, 11) for delivery in (1, 11)}
    engine.dispose()
    assert len(found) == 4
    assert {len(each) for each in found} == {32}
