"""Delivery to a real relay."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.delivery.errors import DeliveryError, Refused, SenderRefused, Unreachable
from app.delivery.mail.settings import MailSettings
from app.delivery.mail.smtp import SmtpMailer
from app.delivery.message import Email

from ..rigs.postfix import PASSWORD, USER, Postfix

Given = dict[str, Any]

STARTTLS: Given = {"use_tls": True}
SIGNED_IN: Given = {"use_tls": True, "username": USER, "password": PASSWORD}


@pytest.fixture(autouse=True)
def _known_authority(relay: Postfix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(relay.authority))
    relay.sink.received.clear()


def send(relay: Postfix, to: str = "ada@example.com", **settings: Any) -> None:
    given: Given = {"server": "localhost", "port": relay.port, "default_sender": "desk@example.com"}
    mailer = SmtpMailer(MailSettings.model_validate(given | settings))
    with mailer.open() as connection:
        connection.send(mailer.writer.write(Email(to, "Hello", "Hi", ""), datetime.now(UTC)))


def test_relay_accepts_emails(relay: Postfix) -> None:
    send(relay)
    send(relay, **STARTTLS)
    assert [mail.to for mail in relay.sink.wait_for(2)] == ["ada@example.com"] * 2


@pytest.mark.parametrize("tls_at_once", [False, True])
def test_authenticated_client_can_relay(relay: Postfix, tls_at_once: bool) -> None:
    at_once: Given = {"port": relay.tls_port, "use_ssl": True, "use_tls": False}
    send(relay, "far@elsewhere.example", **SIGNED_IN | (at_once if tls_at_once else {}))
    assert relay.sink.wait_for(1)[0].to == "far@elsewhere.example"


def test_unknown_receiver_is_rejected(relay: Postfix) -> None:
    with pytest.raises(Refused, match="User unknown"):
        send(relay, "carol@example.com")


@pytest.mark.parametrize(
    ("to", "settings", "expected"),
    [
        ("ada@example.com", {"local_hostname": "vm"}, "MAIL_LOCAL_HOSTNAME: receiver: 504"),
        ("ada@example.com", {"default_sender": "desk@vm"}, "MAIL_DEFAULT_SENDER: receiver: 504"),
        ("far@elsewhere.example", {}, "MAIL_USERNAME and MAIL_PASSWORD: receiver: 554"),
        ("ada@example.com", SIGNED_IN | {"password": "wrong"}, "MAIL_PASSWORD is wrong: 535"),
    ],
)
def test_rejected_sender_is_not_a_rejected_receiver(
    relay: Postfix, to: str, settings: Given, expected: str
) -> None:
    with pytest.raises(SenderRefused, match=expected):
        send(relay, to, **settings)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"use_ssl": True}, "MAIL_USE_TLS in place of MAIL_USE_SSL"),
        (STARTTLS | {"server": "127.0.0.1"}, "not for 127.0.0.1; see MAIL_SERVER"),
        ({"username": USER, "password": PASSWORD}, "set MAIL_USE_TLS"),
        ({"port": 1}, "nothing listens at localhost:1; see MAIL_SERVER and MAIL_PORT"),
    ],
)
def test_failed_connection_names_the_setting(
    relay: Postfix, settings: Given, expected: str
) -> None:
    with pytest.raises(Unreachable, match=expected):
        send(relay, **settings)


@pytest.mark.parametrize("at_once", [False, True])
def test_certificate_of_unknown_authority_is_rejected(
    relay: Postfix, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(DeliveryError, match="SSL_CERT_FILE"):
        send(relay, use_ssl=at_once, use_tls=True, port=relay.tls_port if at_once else relay.port)
