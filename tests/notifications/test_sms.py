from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import select

from app.core.context import current_frontdesk, service
from app.delivery.message import Sms
from app.delivery.outbox.models import Delivery
from app.delivery.sms import gateway as sms
from app.delivery.sms.gateway import SmsGateway
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, only_on
from ..rigs.manual_engine import ManualEngine
from ..rigs.twilio import Gateway, sms_gateway
from .conftest import Notify

pytestmark = only_on("sqlite")

SET_UP = {"SMS_ACCOUNT_SID": "AC1", "SMS_AUTH_TOKEN": "hidden", "SMS_PHONE_NUMBER": "+15550001111"}


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with sms_gateway() as gateway:
        yield gateway


@pytest.fixture
def app(make_app: MakeApp, gateway: Gateway) -> Flask:
    return make_app(SMS_API_URL=gateway.url, **SET_UP)


@pytest.fixture(autouse=True)
def _people(person: MakePerson) -> None:
    person("ada", phone="+491511234567")
    person("bob")


def outcome(app: Flask) -> list[tuple[str, str | None, str | None]]:
    with app.app_context():
        rows = current_frontdesk.session.execute(
            select(Delivery.state, Delivery.reason, Delivery.reference).order_by(Delivery.id)
        )
        return [(state, reason, reference) for state, reason, reference in rows]


def test_accounts_without_a_phone_are_skipped(
    app: Flask, notify: Notify, engine: ManualEngine, gateway: Gateway
) -> None:
    sent = notify("Closed", "On Friday.", channels=["inapp", "sms"])
    assert sent.deliveries["sms"] == {"pending": 1, "sent": 0, "failed": 0, "skipped": 1}
    engine.deliver()
    assert gateway.sent == [
        {"To": "+491511234567", "From": "+15550001111", "Body": "Closed\nOn Friday."}
    ]
    assert outcome(app) == [("sent", None, "SM1"), ("skipped", "The account has no phone", None)]


@pytest.mark.parametrize("status", [429, 500, 503, 401])
def test_failing_gateway_is_retried(
    app: Flask,
    notify: Notify,
    engine: ManualEngine,
    gateway: Gateway,
    clock: SteppingClock,
    status: int,
) -> None:
    gateway.status = status
    notify(channels=["inapp", "sms"])
    engine.deliver()
    assert outcome(app)[0][0] == "pending"
    gateway.status = 201
    clock.step(seconds=15)
    engine.deliver()
    assert outcome(app)[0] == ("sent", None, "SM1")


def test_rejected_number_fails_at_once(
    app: Flask, notify: Notify, engine: ManualEngine, gateway: Gateway
) -> None:
    gateway.status = 400
    notify(channels=["inapp", "sms"])
    engine.deliver()
    state, reason, _ = outcome(app)[0]
    assert state == "failed"
    assert reason is not None
    assert reason.startswith("400")


def test_silent_gateway_times_out(
    app: Flask,
    notify: Notify,
    engine: ManualEngine,
    gateway: Gateway,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sms, "TIMEOUT_SECONDS", 0.3)
    gateway.status = 0
    notify(channels=["inapp", "sms"])
    engine.deliver()
    assert outcome(app)[0][0] == "pending"


def test_send_returns_the_gateways_id_or_none(
    app: Flask, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    with app.app_context():
        twilio = service(SmsGateway)
    assert twilio.send(Sms("+491511234567", "Hi")) == "SM1"
    for status in (400, 429, 500):
        gateway.status = status
        assert twilio.send(Sms("+491511234567", "the secret plan")) is None
    assert "No SMS is sent" in caplog.text
    assert "the secret plan" not in caplog.text
    assert "hidden" not in caplog.text


@pytest.mark.parametrize("missing", list(SET_UP))
def test_missing_setting_is_logged_and_nothing_is_sent(
    make_app: MakeApp, gateway: Gateway, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    from app.frontdesk import Frontdesk

    app = make_app(SMS_API_URL=gateway.url, **{**SET_UP, missing: ""})
    with app.app_context():
        assert service(SmsGateway).send(Sms("+491511234567", "Hi")) is None
        sent = Frontdesk().notify("Hello", "x", channels=["inapp", "sms"])
    assert sent.deliveries["sms"]["skipped"] == 2
    lines = capsys.readouterr().err.splitlines()
    errors = [line for line in lines if '"ERROR"' in line]
    assert len(errors) == 2
    assert all(missing in line for line in errors)
    assert gateway.sent == []


def test_missing_library_is_logged_and_nothing_is_sent(
    app: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "twilio", None)
    with app.app_context():
        assert service(SmsGateway).send(Sms("+491511234567", "Hi")) is None
    assert "pip install 'flask-frontdesk[sms]'" in caplog.text


def test_long_message_is_shortened(notify: Notify, engine: ManualEngine, gateway: Gateway) -> None:
    notify("T", "x" * 10_000, channels=["sms"])
    engine.deliver()
    assert len(gateway.sent[0]["Body"]) == sms.MAX_LENGTH
