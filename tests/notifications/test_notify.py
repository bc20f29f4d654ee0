"""`frontdesk.notify` and the hooks around it."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import func, select

from app.core.context import current_frontdesk
from app.core.db.transaction import transaction
from app.delivery.outbox.models import Delivery
from app.frontdesk import Frontdesk
from app.notifications.errors import NoChannels, SenderRequired, UnknownReceivers
from app.notifications.models import InboxItem, Notification
from app.testing.client import Api
from app.testing.database import noted_queries

from ..conftest import MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.manual_engine import ManualEngine
from .conftest import Notify


def receivers(app: Flask) -> list[int]:
    with app.app_context():
        found = current_frontdesk.session.scalars(select(InboxItem.receiver_id))
        return sorted(int(str(account_id)) for account_id in found)


def test_admin_type_with_inapp_requires_a_sender(notify: Notify, ada: Person) -> None:
    with pytest.raises(SenderRequired):
        notify(notification_type="admin")
    assert notify(notification_type="admin", sender=ada.id).notification is not None
    assert notify(notification_type="system").notification is not None
    assert notify(notification_type="admin", channels=["email"]).notification is None


def test_channel_is_required(notify: Notify) -> None:
    with pytest.raises(NoChannels):
        notify(channels=[])


@for_each(
    ("title", "message"),
    [("", "x"), ("a\u2028b", "x"), ("t" * 201, "x"), ("t", ""), ("t", "m" * 10_001), ("t", "\0")],
)
def test_application_code_has_the_same_limits(notify: Notify, title: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"title|message"):
        notify(title, message)


def test_receivers_are_accounts_or_ids_without_duplicates(
    app: Flask, notify: Notify, ada: Person
) -> None:
    notify(receivers=[ada, ada.id])
    assert receivers(app) == [ada.id]


def test_empty_list_of_receivers_sends_to_no_account(
    app: Flask, notify: Notify, ada: Person
) -> None:
    sent = notify(receivers=[])
    assert sent.notification is not None
    assert sent.notification.receivers == 0
    assert receivers(app) == []


def test_unknown_receivers_are_rejected(app: Flask, notify: Notify, ada: Person) -> None:
    with pytest.raises(UnknownReceivers):
        notify(receivers=[ada.id, 4711])
    assert receivers(app) == []


def test_scope_is_stored_and_shown(notify: Notify, ada: Person) -> None:
    notify(scope="shop")
    assert ada.api().get("/notifications").json[0]["scope"] == "shop"


def test_receivers_hook_applies_to_inbox_and_deliveries(
    app: Flask, notify: Notify, ada: Person, bob: Person
) -> None:
    requested: list[Any] = []

    def only_bob(accounts: list[Any], session: Any) -> list[Any]:
        requested.extend(account.email for account in accounts)
        return [account for account in accounts if account.id == bob.id] * 2

    with app.app_context():
        current_frontdesk.hooks.add("receivers", only_bob)
    notify(channels=["inapp", "email"])
    assert requested == [ada.email, bob.email]
    assert receivers(app) == [bob.id]
    with app.app_context():
        assert current_frontdesk.session.scalars(select(Delivery.receiver_id)).all() == [bob.id]


def test_failing_hook_sends_nothing(
    app: Flask, notify: Notify, ada: Person, engine: ManualEngine
) -> None:
    def reject(accounts: list[Any], session: Any) -> list[Any]:
        raise ValueError("not today")

    with app.app_context():
        current_frontdesk.hooks.add("receivers", reject)
    with pytest.raises(ValueError, match="not today"):
        notify(channels=["inapp", "email"])
    assert receivers(app) == []
    assert engine.woken == []


def test_notify_joins_the_callers_transaction(
    app: Flask, ada: Person, engine: ManualEngine
) -> None:
    def fail() -> None:
        with transaction(current_frontdesk.session):
            Frontdesk().notify("Hello", "x", channels=["inapp", "email"])
            raise ValueError("the order failed")

    with app.app_context(), pytest.raises(ValueError, match="the order failed"):
        fail()
    assert receivers(app) == []
    assert engine.woken == []


@pytest.mark.parametrize("count", [1, 40])
def test_number_of_statements_does_not_depend_on_receivers(
    app: Flask, person: MakePerson, notify: Notify, count: int
) -> None:
    for number in range(count):
        person(f"p{number}")
    with noted_queries(app) as statements:
        notify(channels=["inapp", "email", "sms"])
    inserts = [
        each.split()[2].removeprefix("frontdesk_")
        for each in statements
        if each.startswith("INSERT")
    ]
    stored = ["notifications", "inbox", "outgoing_messages", "deliveries", "deliveries"]
    assert inserts == [*stored, "events"]
    assert len(statements) <= 12


def test_extension_registers_channels_and_receivers() -> None:
    frontdesk = Frontdesk()

    @frontdesk.channel("slack")
    def slack(message: Any, receiver: Any) -> None:
        return None

    @frontdesk.receivers
    def everybody(accounts: list[Any], session: Any) -> list[Any]:
        return accounts

    assert frontdesk.hooks.named("channel") == {"slack": slack}
    assert frontdesk.hooks.receivers is everybody


def test_admin_can_use_the_applications_channel(
    app: Flask, person: MakePerson, engine: ManualEngine
) -> None:
    with app.app_context():
        current_frontdesk.hooks.add("channel", lambda message, receiver: "T1", "slack")
    admin = person("root", role="root").api()
    body = {"data": {"title": "t", "message": "m", "channels": ["inapp", "slack"]}}
    sent = admin.post("/admin/notifications", 201, json=body).json
    engine.deliver()
    stands = admin.get(f"/admin/notifications/{sent['id']}").json["deliveries"]
    assert stands == {"slack": {"pending": 0, "sent": 1, "failed": 0, "skipped": 0}}


@pytest.mark.parametrize("model", [None, object, "accounts"], ids=["none", "class", "text"])
def test_admin_route_without_an_account_model_is_a_501(
    model: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from app.blueprints import admin_notifications

    app = Flask(__name__)
    app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(app)
    Frontdesk().init_app(app, db, account_model=model)
    app.register_blueprint(admin_notifications, url_prefix="/admin/notifications")
    response = Api(app, "").post("/admin/notifications", 500, json={})
    assert response.detail == "Account model is not configured"
    assert "account_model=" in caplog.text


def test_stored_rows_are_counted(app: Flask, notify: Notify, ada: Person) -> None:
    """Without `inapp` there is neither a notification nor an inbox row."""
    sent = notify(channels=["email"])
    assert sent.notification is None
    assert sent.deliveries["email"]["pending"] == 1
    with app.app_context():
        for model in (Notification, InboxItem):
            assert current_frontdesk.session.scalar(select(func.count()).select_from(model)) == 0
