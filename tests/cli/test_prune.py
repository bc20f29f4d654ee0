"""`prune` deletes expired data and nothing else."""

from __future__ import annotations

import json
from typing import Any

from flask import Flask
from sqlalchemy import func, select, update

from app.core.context import current_frontdesk, service
from app.delivery.outbox.models import Delivery, OutgoingMessage
from app.notifications.models import InboxItem, Notification
from app.notifications.retention import NotificationRetention
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson


def run(app: Flask, *arguments: str, code: int = 0) -> Any:
    result = app.test_cli_runner().invoke(args=arguments)
    assert result.exit_code == code, result.output
    return json.loads(result.output.splitlines()[-1]) if code == 0 else result.output


def rows(app: Flask) -> dict[str, int]:
    models = (Notification, InboxItem, Delivery, OutgoingMessage)
    with app.app_context():
        session = current_frontdesk.session
        return {
            model.__tablename__.removeprefix("frontdesk_"): session.scalar(
                select(func.count()).select_from(model)
            )
            or 0
            for model in models
        }


def send(admin: Any, *channels: str) -> None:
    data = {"title": "x", "message": "y", "channels": ["inapp", *channels]}
    admin.post("/admin/notifications/", 201, json={"data": data})


def test_old_notifications_are_deleted_with_their_rows(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(CORE__EMAILS_ENABLED="false")
    boss = person("boss", into=app, role="admin")
    person("ada", into=app)
    send(boss.api(), "email")
    clock.step(days=31)
    send(boss.api())
    assert run(app, "notifications", "prune", "--days", "30") == {"notifications": 1}
    assert rows(app) == {"notifications": 1, "inbox": 2, "deliveries": 0, "outgoing_messages": 0}


def test_prune_works_in_batches_of_the_given_size(
    app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    boss = person("boss", role="admin")
    for name in ("ada", "bob", "cleo"):
        person(name)
    send(boss.api())
    clock.step(days=2)
    with app.app_context():
        assert service(NotificationRetention).prune(1, batch=1) == 1
    assert rows(app)["inbox"] == 0


def test_pending_notifications_are_kept(
    app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    boss = person("boss", role="admin")
    send(boss.api(), "email")
    with app.app_context():
        current_frontdesk.session.execute(update(Delivery).values(state="pending"))
        current_frontdesk.session.commit()
    clock.step(days=400)
    assert run(app, "notifications", "prune", "--days", "1") == {"notifications": 0}
    assert rows(app)["notifications"] == 1


def test_notifications_of_other_scopes_are_kept(
    app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    send(person("boss", role="admin").api())
    with app.app_context():
        current_frontdesk.session.execute(update(Notification).values(scope="billing"))
        current_frontdesk.session.commit()
    clock.step(days=400)
    assert run(app, "notifications", "prune", "--days", "1") == {"notifications": 0}


def test_prune_needs_a_number_of_days(app: Flask) -> None:
    assert "KEEP_DAYS" in run(app, "notifications", "prune", code=1)
    assert run(app, "frontdesk", "prune")["notifications"] == 0


def test_one_command_prunes_all_packages(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(CORE__KEYSTORE="database", NOTIFICATIONS__KEEP_DAYS="30")
    boss = person("boss", into=app, role="admin")
    send(boss.api())
    keystore = app.extensions["frontdesk"].keystore
    with app.app_context():
        for number in range(5):
            keystore.put(f"key-{number}", "x", 60)
        keystore.put("lasting", "x", 365 * 24 * 3600)
    clock.step(days=100)
    report = run(app, "frontdesk", "prune")
    assert report["notifications"] == 1
    assert report["keystore_entries"] >= 5
    with app.app_context():
        assert keystore.get("lasting") == "x"
        assert keystore.remaining("lasting") > 0
        assert all(keystore.remaining(f"key-{number}") == 0 for number in range(5))
