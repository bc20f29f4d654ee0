"""Kinds of notifications, and the content of notifications that the application sends."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from flask import Flask
from jinja2 import DictLoader

from app.core.config.environment import SettingsError
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.core.errors import Invalid, SetupError
from app.delivery.message import Receiver, StoredMessage
from app.frontdesk import Frontdesk
from app.notifications.errors import KeyReused, UnknownWorkspace
from app.notifications.kinds import NotificationKinds

from ..conftest import MakeApp, Person
from ..rigs.cases import for_each
from ..rigs.manual_engine import ManualEngine
from ..rigs.smtp import Sink, smtp_sink
from .conftest import Notify


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


@pytest.fixture
def app(make_app: MakeApp, sink: Sink) -> Flask:
    return make_app(
        MAIL_SERVER="127.0.0.1",
        MAIL_PORT=str(sink.port),
        CORE__CLIENT_HOST="https://client.example",
        NOTIFICATIONS__KINDS='{"orders": {"name": "Orders"}, "news": {"name": "News",'
        ' "description": "Weekly", "channels": ["inapp"], "mandatory": true}}',
    )


def test_settings_and_code_declare_kinds(app: Flask) -> None:
    with app.app_context():
        kinds = service(NotificationKinds)
        assert sorted(kinds) == ["account", "announcements", "news", "orders"]
        assert kinds["orders"].channels == ("inapp", "email")
        assert kinds["news"].mandatory
        assert kinds["account"].mandatory
    frontdesk = Frontdesk()
    assert frontdesk.notification_kind("order-shipped", name="Orders") == "order-shipped"


@for_each(
    ("key", "values", "message"),
    [
        ("announcements", {}, "is built in"),
        ("account", {}, "is built in"),
        ("Orders", {}, "needs a key"),
        ("1st", {}, "needs a key"),
        ("a" * 51, {}, "needs a key"),
        ("a", {"name": " "}, "needs a name"),
        ("a", {"channels": "email"}, "needs a list of channels"),
        ("a", {"channels": []}, "needs a channel"),
        ("a", {"mandatory": "no"}, "needs true or false"),
        ("a", {"email_if_unread": 0}, "1 to 1440 minutes"),
        ("a", {"email_if_unread": 1441}, "1 to 1440 minutes"),
        ("a", {"email_if_unread": 5, "channels": ["email"]}, "channels inapp and email"),
    ],
)
def test_invalid_declaration_is_rejected(
    make_app: MakeApp, key: str, values: dict[str, Any], message: str
) -> None:
    given = {"name": "Orders", **values}
    with pytest.raises(SetupError, match=message):
        Frontdesk().notification_kind(key, **given)
    with pytest.raises(SettingsError, match=message):
        make_app(NOTIFICATIONS__KINDS=json.dumps({key: given}))


def test_undeclared_kind_and_channel_are_errors_of_the_set_up(notify: Notify, ada: Person) -> None:
    with pytest.raises(SetupError, match="is declared first, with"):
        notify(kind="order")
    with pytest.raises(SetupError, match="does not have the channels sms"):
        notify(kind="orders", channels=["inapp", "sms"])
    sent = notify(kind="orders")
    assert set(sent.deliveries) == {"email"}
    assert notify(kind="news").deliveries == {}


@for_each("data", [{"a": math.nan}, {"a": math.inf}, {"a": {1: 2}}, {"a": object()}, {"a": 2**70}])
def test_data_that_is_not_json_is_rejected(notify: Notify, data: dict[Any, Any]) -> None:
    with pytest.raises(ValueError, match="data"):
        notify(data=data)


def test_email_and_channel_get_url_kind_and_data(
    app: Flask, notify: Notify, engine: ManualEngine, sink: Sink, ada: Person
) -> None:
    received: list[StoredMessage] = []

    def page(message: StoredMessage, receiver: Receiver) -> None:
        received.append(message)

    with app.app_context():
        current_frontdesk.hooks.add("channel", page, "push")
    app.jinja_loader = DictLoader({"order.html": "<p>{{ data.name }} {{ link }}</p>"})
    content = {"url": "/orders/7", "data": {"name": "<b>"}}
    notify(kind="orders", channels=["email"], **content)
    notify(channels=["email", "push"], context={"template_file": "order.html"}, **content)
    engine.deliver()
    default, own = sink.received
    assert 'href="https://client.example/orders/7"' in default.part("html")
    assert "https://client.example/orders/7" in default.part("plain")
    assert own.part("html").strip() == "<p>&lt;b&gt; https://client.example/orders/7</p>"
    (message,) = received
    assert (message.url, message.kind, message.data) == ("/orders/7", None, {"name": "<b>"})


def test_key_of_the_system_is_shared_by_calls_without_a_sender(
    app: Flask, notify: Notify, ada: Person
) -> None:
    first = notify(key="a", receivers=[ada.id])
    again = notify(key="a", receivers=iter([ada.id, ada.id]))
    assert again.is_replay
    assert (again.notification and again.notification.id) == first.notification.id  # type: ignore[union-attr]
    assert not notify(key="a", receivers=[ada.id], sender=ada.id).is_replay
    with pytest.raises(KeyReused):
        notify(key="a")
    with pytest.raises(Invalid):
        notify(key="b", channels=["email"])
    with pytest.raises(UnknownWorkspace):
        notify(key="b", workspace=4711)
    with app.app_context():
        session = current_frontdesk.session
        with suppress(RuntimeError), transaction(session):
            assert not Frontdesk().notify("Hello", "x", key="b").is_replay
            assert Frontdesk().notify("Hello", "x", key="b").is_replay
            raise RuntimeError
    assert not notify(key="b").is_replay
