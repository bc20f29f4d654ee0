"""Flask-Mail over Frontdesk's connection, and its signal for Frontdesk's emails."""

from __future__ import annotations

import smtplib
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import flask_mail
import pytest
from flask import Flask, current_app
from flask_mail import BadHeaderError, Mail, Message, email_dispatched

from app import Frontdesk, create_app
from app.accounts.account import Account
from app.core.context import service
from app.delivery.mail.base import Mailer
from app.delivery.mail.one_off import BackgroundMail, OneOffMail
from app.delivery.mail.smtp_connection import Timeouts
from app.delivery.message import Email
from app.testing.fakes import Fakes
from config import Settings

from ..rigs.hosts import HostSettings, plain_app
from ..rigs.postfix import PASSWORD, USER, Postfix
from ..rigs.servers import checkout_environment
from ..rigs.smtp import Sink, smtp_sink

MAIL: dict[str, Any] = {
    "MAIL_SERVER": "127.0.0.1",
    "MAIL_DEFAULT_SENDER": "Desk <desk@example.com>",
    "MAIL_LOCAL_HOSTNAME": "desk.example.com",
}


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


def host_with(**config: Any) -> Flask:
    host, db = plain_app(**config)
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=Account)
    return host


@pytest.fixture
def host(sink: Sink) -> Flask:
    return host_with(**MAIL, MAIL_PORT=sink.port)


@pytest.fixture
def transactional(host: Flask) -> BackgroundMail:
    """The transactional email of the application."""
    with host.app_context():
        found = service(OneOffMail)  # type: ignore[type-abstract]
    assert isinstance(found, BackgroundMail)
    return found


def test_documented_example_sends(host: Flask, sink: Sink) -> None:
    with host.app_context():
        # [send]
        mail = current_app.extensions["mail"]
        mail.send(Message("It has left", recipients=["ada@example.com"], body="On its way."))
        # [end]
    assert sink.received[0].part("plain").strip() == "On its way."


def send(host: Flask, *args: Any, **fields: Any) -> None:
    """Send as the application's code does."""
    with host.app_context():
        message = Message(*args, **{"recipients": ["ada@example.com"], "body": "Hi", **fields})
        host.extensions["mail"].send(message)


def test_applications_message_uses_the_connection(host: Flask, sink: Sink) -> None:
    send(host, "Grüße", html="<p>Hi</p>", reply_to="boss@example.com")
    (mail,) = sink.received
    assert mail.message["From"] == "Desk <desk@example.com>"
    assert mail.message["Subject"] == "Grüße"
    assert mail.message["Reply-To"] == "boss@example.com"
    assert mail.part("html").strip() == "<p>Hi</p>"
    assert sink.names == ["desk.example.com"]


def test_service_can_send(sink: Sink) -> None:
    core = {"DATABASE_URL": "sqlite://", "LOG_LEVEL": "ERROR"}
    settings = {"SECRET_KEY": "x" * 32, "CORE": core, "MAIL_PORT": sink.port, **MAIL}
    send(create_app(Settings.model_validate(settings)), "Hello")
    assert sink.received[0].message["From"] == "Desk <desk@example.com>"


def test_bcc_is_sent_and_hidden(host: Flask, sink: Sink) -> None:
    send(host, "Hello", cc=["bob@example.com"], bcc=[("Carol", "carol@example.com")])
    assert sink.receivers == ["ada@example.com", "bob@example.com", "carol@example.com"]
    assert sink.connections == 1
    for mail in sink.received:
        assert (mail.message["To"], mail.message["Cc"]) == ("ada@example.com", "bob@example.com")
        assert b"carol" not in mail.data.lower()


def test_many_messages_use_one_connection(host: Flask, sink: Sink) -> None:
    with host.app_context(), host.extensions["mail"].connect() as connection:
        for number in range(3):
            connection.send(Message(f"Number {number}", recipients=["ada@example.com"], body="x"))
    assert [mail.message["Subject"] for mail in sink.received] == [
        "Number 0",
        "Number 1",
        "Number 2",
    ]
    assert sink.connections == 1


def test_attachments_and_leading_dots_are_unchanged(host: Flask, sink: Sink) -> None:
    data = bytes(range(256)) * 20
    with host.app_context():
        message = Message("Hello", recipients=["ada@example.com"], body="ü\n.\n..x\rlast")
        message.attach("Bücher.bin", "application/octet-stream", data)
        host.extensions["mail"].send(message)
    (attachment,) = sink.received[0].message.iter_attachments()
    assert (attachment.get_filename(), attachment.get_content()) == ("Bücher.bin", data)
    body = sink.received[0].message.get_body()
    assert body is not None
    assert body.get_content().splitlines() == ["ü", ".", "..x", "last"]


@pytest.mark.parametrize("character", [*"\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029\0"], ids=ascii)
def test_line_breaks_are_kept_out_of_headers(host: Flask, sink: Sink, character: str) -> None:
    bad = f"x{character}Bcc: eve@example.com"
    for fields in (
        {"subject": bad},
        {"sender": f"{bad} <desk@example.com>"},
        {"reply_to": bad},
        {"cc": [(bad, "bob@example.com")]},
        {"extra_headers": {"X-Desk": bad}},
        {"extra_headers": {bad: "x"}},
        {"attachments": [flask_mail.Attachment(bad, "text/plain", "x")]},
    ):
        with pytest.raises(BadHeaderError):
            send(host, **{"subject": "Hello", **fields})
    assert sink.received == []


def test_folded_subject_is_accepted(host: Flask, sink: Sink) -> None:
    send(host, "one\r\n two")
    assert sink.received[0].message["Subject"] == "one two"


def test_rejected_receiver_does_not_stop_others(
    host: Flask, sink: Sink, caplog: pytest.LogCaptureFixture
) -> None:
    sink.receiver_answer = lambda to: "550 5.1.1 unknown" if to.startswith("ada") else None
    send(host, "Hello", recipients=["ada@example.com", "bob@example.com"])
    assert sink.receivers == ["bob@example.com"]
    assert "The email to ada@example.com, 'Hello', is refused: receiver: 550" in caplog.text
    with pytest.raises(smtplib.SMTPException, match=r"550 5\.1\.1 unknown"):
        send(host, "Hello")


def test_silent_server_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = host_with(**MAIL, MAIL_PORT=silent.getsockname()[1])
        with host.app_context():
            mailer = service(Mailer)  # type: ignore[type-abstract]
        monkeypatch.setattr(mailer, "_timeouts", Timeouts(connect=0.2))
        with pytest.raises(smtplib.SMTPException, match="cannot be reached"):
            send(host, "Hello")


def test_certificate_of_unknown_authority_is_rejected(
    relay: Postfix, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in = {"MAIL_USE_TLS": True, "MAIL_USERNAME": USER, "MAIL_PASSWORD": PASSWORD}
    config = {**MAIL, **signed_in, "MAIL_SERVER": "localhost", "MAIL_PORT": relay.port}
    with pytest.raises(smtplib.SMTPException, match="SSL_CERT_FILE"):
        send(host_with(**config), "Hello")
    relay.sink.received.clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(relay.authority))
    send(host_with(**config), "Hello", recipients=["far@elsewhere.example"])
    assert relay.sink.wait_for(1)[0].to == "far@elsewhere.example"


def test_applications_flask_mail_is_kept() -> None:
    host, db = plain_app(**MAIL)
    application_mail = Mail(host)
    Frontdesk().init_app(host, db, settings=HostSettings())
    assert host.extensions["mail"] is application_mail.state


@pytest.mark.parametrize("config", [{"TESTING": True}, {"MAIL_SUPPRESS_SEND": True}])
def test_suppressed_message_is_recorded_and_not_sent(sink: Sink, config: dict[str, bool]) -> None:
    host = host_with(**MAIL, MAIL_PORT=sink.port, **config)
    with host.extensions["mail"].record_messages() as recorded:
        send(host, "Hello")
    assert [message.subject for message in recorded] == ["Hello"]
    assert sink.received == []


def test_sent_emails_emit_the_signal(
    host: Flask, sink: Sink, transactional: BackgroundMail
) -> None:
    signals: list[tuple[Any, Message]] = []

    def listen(sender: Flask, message: Message) -> None:
        signals.append((sender, message))

    with email_dispatched.connected_to(listen):
        transactional.send_soon(Email("ada@example.com", "Hello", "Hi", "<p>Hi</p>"))
        sink.wait_for(1)
        assert transactional.flush(5)
    ((sender, message),) = signals
    assert sender is host
    assert (message.subject, message.recipients) == ("Hello", ["ada@example.com"])
    assert (message.body, message.html) == ("Hi", "<p>Hi</p>")
    assert message.sender == "Desk <desk@example.com>"
    assert message.msgId == sink.received[0].message["Message-ID"]


def test_rejected_email_emits_no_signal(
    host: Flask, sink: Sink, transactional: BackgroundMail
) -> None:
    sink.receiver_answer = lambda _to: "550 5.1.1 unknown"
    with host.extensions["mail"].record_messages() as recorded:
        transactional.send_soon(Email("ada@example.com", "Hello", "Hi", ""))
        assert transactional.flush(5)
    assert recorded == []


def test_failing_listener_does_not_stop_emails(
    sink: Sink, transactional: BackgroundMail, caplog: pytest.LogCaptureFixture
) -> None:
    def listen(_sender: Flask, message: Message) -> None:
        raise LookupError(message.subject)

    with email_dispatched.connected_to(listen):
        for number in range(2):
            transactional.send_soon(Email("ada@example.com", f"Number {number}", "Hi", ""))
        sink.wait_for(2)
        assert transactional.flush(5)
    assert "A listener to Flask-Mail's email_dispatched failed" in caplog.text


def test_no_message_is_created_without_listeners(
    sink: Sink, transactional: BackgroundMail, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: list[object] = []
    monkeypatch.setattr(flask_mail, "Message", lambda *_, **__: created.append(1))
    transactional.send_soon(Email("ada@example.com", "Hello", "Hi", ""))
    sink.wait_for(1)
    assert transactional.flush(5)
    assert created == []


def test_flask_mail_is_imported_lazily() -> None:
    code = (
        "import sys; from tests.rigs.hosts import host_with; host = host_with();"
        "before = 'flask_mail' in sys.modules; host.extensions['mail'].default_sender;"
        "print(before, 'flask_mail' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=checkout_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", "True"]


def test_pytest_plugin_emits_the_signal(
    host: Flask, transactional: BackgroundMail, frontdesk_fakes: Fakes
) -> None:
    with host.extensions["mail"].record_messages() as recorded:
        transactional.send_soon(Email("ada@example.com", "Hello", "Hi", ""))
    assert frontdesk_fakes.mails.last("ada@example.com").subject == "Hello"
    assert [message.subject for message in recorded] == ["Hello"]
