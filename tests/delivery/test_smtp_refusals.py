"""Classification of rejections: whether the receiver or the sender is the cause."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from app.delivery.errors import (
    DeliveryError,
    Refused,
    RefusedAtReceiver,
    SenderRefused,
    TryLater,
    Unreachable,
)
from app.delivery.mail import smtp
from app.delivery.mail.settings import MailSettings
from app.delivery.mail.smtp import SmtpMailer
from app.delivery.message import Email

from ..rigs.smtp import Sink, smtp_sink


@pytest.fixture(params=[False, True], ids=["one by one", "pipelining"])
def sink(request: pytest.FixtureRequest) -> Iterator[Sink]:
    with smtp_sink() as sink:
        sink.pipelining = request.param
        yield sink


@pytest.fixture
def mailer(sink: Sink) -> SmtpMailer:
    return SmtpMailer(
        MailSettings(server="127.0.0.1", port=sink.port, default_sender="desk@example.com")
    )


def send(mailer: SmtpMailer, to: str = "ada@example.com") -> None:
    with mailer.open() as connection:
        connection.send(mailer.writer.write(Email(to, "Hello", "Hi", ""), datetime.now(UTC)))


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        ("550 5.1.1 no such user", Refused),
        ("550 5.2.1 mailbox disabled", Refused),
        ("553 5.1.3 bad address", Refused),
        ("552 5.2.2 mailbox full", Refused),
        ("550 no such user", Refused),
        ("551 not local", Refused),
        ("553 not allowed", Refused),
        ("450 4.2.0 greylisted", TryLater),
        ("451 4.3.0 aliases are away", TryLater),
        ("504 5.5.2 <vm>: Helo command rejected: need fully-qualified hostname", RefusedAtReceiver),
        ("550 5.7.1 <vm>: Helo command rejected: Access denied", RefusedAtReceiver),
        ("554 5.7.1 Relay access denied", RefusedAtReceiver),
        ("554 go away", RefusedAtReceiver),
        ("550 5.7.25 reverse name wanted", RefusedAtReceiver),
        ("550 5.1.8 sender's domain not found", SenderRefused),
        ("450 4.1.8 sender's domain not found", SenderRefused),
        ("530 5.7.0 authentication required", RefusedAtReceiver),
        ("535 5.7.8 who are you", RefusedAtReceiver),
        ("503 5.5.1 bad sequence", RefusedAtReceiver),
    ],
)
def test_reply_to_receiver_is_classified(
    sink: Sink, mailer: SmtpMailer, response: str, kind: type[DeliveryError]
) -> None:
    sink.receiver_answer = lambda _to: response
    with pytest.raises(DeliveryError, match=response[:3]) as error:
        send(mailer)
    assert error.type is kind


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        ("550 5.1.1 unknown user", SenderRefused),
        ("553 5.7.1 not your address", SenderRefused),
        ("530 5.7.0 Must issue a STARTTLS command first", SenderRefused),
        ("452 4.3.1 no space left", Unreachable),
        ("451 4.3.0 later", Unreachable),
    ],
)
def test_reply_to_sender_is_classified(
    sink: Sink, mailer: SmtpMailer, response: str, kind: type[DeliveryError]
) -> None:
    sink.sender_answer = lambda _from: response
    with pytest.raises(DeliveryError, match=response[:3]) as error:
        send(mailer)
    assert error.type is kind


def test_rejected_client_name_is_a_rejected_sender(sink: Sink, mailer: SmtpMailer) -> None:
    sink.greeting_answer = lambda _name: "550 5.7.1 not with that name"
    with pytest.raises(SenderRefused, match=r"our name \(MAIL_LOCAL_HOSTNAME\): 550 5.7.1"):
        send(mailer)


@pytest.mark.parametrize(
    ("response", "setting"),
    [
        ("530 5.7.0 Must issue a STARTTLS command first", "MAIL_USE_TLS"),
        ("504 5.5.2 <vm>: Helo command rejected", "MAIL_LOCAL_HOSTNAME"),
        ("554 5.7.1 <ada@example.com>: Relay access denied", "MAIL_USERNAME and MAIL_PASSWORD"),
        ("530 5.7.0 Authentication required", "MAIL_USERNAME and MAIL_PASSWORD"),
        ("550 5.1.8 Domain not found", "MAIL_DEFAULT_SENDER"),
        ("553 5.7.1 Sender address rejected: not owned by user", "MAIL_DEFAULT_SENDER"),
    ],
)
def test_the_likely_setting_is_named(
    sink: Sink, mailer: SmtpMailer, response: str, setting: str
) -> None:
    sink.receiver_answer = lambda _to: response
    with pytest.raises(SenderRefused, match=f"likely for {setting}: receiver: {response[:3]}"):
        send(mailer)


REFUSED = "530 5.7.0 Authentication required"


def test_rejected_sender_causes_a_pause(
    sink: Sink, mailer: SmtpMailer, caplog: pytest.LogCaptureFixture
) -> None:
    sink.sender_answer = lambda _from: REFUSED
    for _ in range(5):
        with pytest.raises(SenderRefused, match=REFUSED):
            send(mailer)
    assert sink.connections == 1
    (line,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert line.getMessage() == (
        "The mail server refuses us, likely for MAIL_USERNAME and MAIL_PASSWORD:"
        f" sender: {REFUSED}. No email is sent for 15 s."
    )


def test_rejection_for_one_receiver_causes_no_pause(sink: Sink, mailer: SmtpMailer) -> None:
    sink.receiver_answer = lambda to: "554 5.7.1 Relay denied" if to.startswith("eve") else None
    with pytest.raises(RefusedAtReceiver):
        send(mailer, "eve@elsewhere.example")
    send(mailer, "ada@example.com")
    assert sink.receivers == ["ada@example.com"]


def test_pauses_grow_until_an_email_is_accepted(
    sink: Sink, mailer: SmtpMailer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(smtp, "monotonic", lambda: now)
    pauses = []
    sink.sender_answer = lambda _from: REFUSED
    for _ in range(9):
        with pytest.raises(SenderRefused):
            send(mailer)
        pauses.append(mailer.pause)
        now += mailer.pause
    assert pauses == [15, 30, 60, 120, 240, 480, 960, 1800, 1800]
    sink.sender_answer = lambda _from: None
    send(mailer)
    sink.sender_answer = lambda _from: REFUSED
    with pytest.raises(SenderRefused):
        send(mailer)
    assert mailer.pause == 15


def test_forked_processes_share_the_pause(sink: Sink, mailer: SmtpMailer) -> None:
    sink.sender_answer = lambda _from: REFUSED
    child = os.fork()
    if child == 0:
        with suppress(SenderRefused):
            send(mailer)
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(SenderRefused, match="has just rejected"):
        send(mailer)
    assert sink.connections == 1
