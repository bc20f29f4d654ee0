from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email import message_from_bytes, policy
from pathlib import Path
from threading import Thread

import pytest
from flask import Flask

from app.core.config.environment import SettingsError
from app.core.config.settings import CoreSettings
from app.delivery.errors import DeliveryError, Refused, SenderRefused, TryLater, Unreachable
from app.delivery.mail.mailer import FolderMailer, NoMailer, open_mailer
from app.delivery.mail.mime import MimeMessage, Writer
from app.delivery.mail.settings import MailSettings
from app.delivery.mail.smtp import SmtpMailer
from app.delivery.mail.smtp_connection import DEFAULT_TIMEOUTS, Timeouts
from app.delivery.message import Email
from app.extension.settings import ComposedSettings
from app.extension.sources import service_settings
from config import Settings

from ..rigs.smtp import Sink, smtp_sink
from ..rigs.tcp_proxy import TcpProxy


@pytest.fixture(params=[False, True], ids=["one by one", "pipelining"])
def sink(request: pytest.FixtureRequest) -> Iterator[Sink]:
    with smtp_sink() as sink:
        sink.pipelining = request.param
        yield sink


def mailer_for(port: int, timeouts: Timeouts = DEFAULT_TIMEOUTS) -> SmtpMailer:
    mail = MailSettings(server="127.0.0.1", port=port, default_sender="desk@example.com")
    return SmtpMailer(mail, timeouts)


def create_message(mailer: SmtpMailer, to: str = "ada@example.com") -> MimeMessage:
    return mailer.writer.write(Email(to, "Hello", "Hi", "<p>Hi</p>"), datetime.now(UTC))


def test_many_emails_use_one_connection(sink: Sink) -> None:
    mailer = mailer_for(sink.port)
    with mailer.open() as connection:
        for number in range(5):
            connection.send(create_message(mailer, f"p{number}@example.com"))
    assert sink.receivers == [f"p{number}@example.com" for number in range(5)]
    assert sink.connections == 1


@pytest.mark.parametrize(("response", "kind"), [("550 no", Refused), ("451 later", TryLater)])
def test_rejected_receiver_does_not_stop_the_next_email(
    sink: Sink, response: str, kind: type[Exception]
) -> None:
    sink.receiver_answer = lambda to: response if to.startswith("bad") else None
    mailer = mailer_for(sink.port)
    with mailer.open() as connection:
        with pytest.raises(kind, match=response[:3]):
            connection.send(create_message(mailer, "bad@example.com"))
        connection.send(create_message(mailer, "good@example.com"))
    assert sink.receivers == ["good@example.com"]


@pytest.mark.parametrize(("response", "kind"), [("554 spam", Refused), ("452 full", TryLater)])
def test_rejected_message_does_not_stop_the_next_email(
    sink: Sink, response: str, kind: type[Exception]
) -> None:
    sink.message_answer = lambda to: response if to.startswith("bad") else None
    mailer = mailer_for(sink.port)
    with mailer.open() as connection:
        with pytest.raises(kind):
            connection.send(create_message(mailer, "bad@example.com"))
        connection.send(create_message(mailer, "good@example.com"))
    assert sink.receivers == ["good@example.com"]


def test_dropped_connection_is_unreachable(sink: Sink) -> None:
    sink.message_answer = lambda _to: "drop"
    mailer = mailer_for(sink.port)
    with mailer.open() as connection, pytest.raises(Unreachable):
        connection.send(create_message(mailer))


def test_closing_server_is_unreachable(sink: Sink) -> None:
    sink.receiver_answer = lambda _to: "421 too many messages"
    mailer = mailer_for(sink.port)
    with mailer.open() as connection, pytest.raises(Unreachable, match="421 too many messages"):
        connection.send(create_message(mailer))


def test_connection_limit_of_the_server_causes_a_reconnect(sink: Sink) -> None:
    sink.receiver_answer = lambda _to: (
        "421 too many messages" if len(sink.received) >= 2 * sink.connections else None
    )
    mailer = mailer_for(sink.port)
    with mailer.open() as connection:
        for number in range(5):
            connection.send(create_message(mailer, f"p{number}@example.com"))
    assert sink.receivers == [f"p{number}@example.com" for number in range(5)]
    assert sink.connections == 3


def test_broken_connection_is_opened_again(sink: Sink) -> None:
    line = TcpProxy("127.0.0.1", sink.port)
    mailer = mailer_for(line.port)
    with mailer.open() as connection:
        connection.send(create_message(mailer, "ada@example.com"))
        line.restore()
        connection.send(create_message(mailer, "bob@example.com"))
    assert sink.receivers == ["ada@example.com", "bob@example.com"]
    assert sink.connections == 2


def test_server_lost_between_emails_is_reported(sink: Sink) -> None:
    line = TcpProxy("127.0.0.1", sink.port)
    mailer = mailer_for(line.port)
    with mailer.open() as connection:
        connection.send(create_message(mailer))
        line.cut()
        with pytest.raises(Unreachable, match="cannot be reached"):
            connection.send(create_message(mailer))


def test_interrupted_email_does_not_affect_the_next(sink: Sink) -> None:
    mailer = mailer_for(sink.port)

    def no_database() -> None:
        raise LookupError("the result cannot be stored")

    with mailer.open() as connection:
        with pytest.raises(LookupError):
            connection.send(create_message(mailer, "ada@example.com"), no_database)
        connection.send(create_message(mailer, "bob@example.com"))
    assert sink.receivers == ["bob@example.com"]
    assert sink.received[0].message["To"] == "bob@example.com"
    assert b"MAIL FROM" not in sink.received[0].data


def test_rejection_with_a_closed_connection_is_a_rejection() -> None:
    def refuse_and_hang_up(listener: socket.socket) -> None:
        client, _ = listener.accept()
        with client, client.makefile("rb") as lines:
            client.sendall(b"220 hello\r\n")
            for line in lines:
                response = b"550 no" if line.startswith(b"RCPT") else b"250 fine"
                client.sendall(response + b"\r\n")
                if line.startswith(b"RCPT"):
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=refuse_and_hang_up, args=(listener,), daemon=True).start()
        mailer = mailer_for(listener.getsockname()[1])
        with mailer.open() as connection, pytest.raises(Refused, match="550 no"):
            connection.send(create_message(mailer))


@contextmanager
def refusing(code: str, *, after: int) -> Iterator[tuple[int, list[bytes]]]:
    """A server with pipelining that rejects one command and still asks for the message; yields its
    port and the received lines."""
    heard: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        client, _ = listener.accept()
        with client, client.makefile("rb") as lines:
            client.sendall(b"220 hello\r\n")
            for number, line in enumerate(lines):
                heard.append(line.strip())
                response = b"354 go on" if line.strip() == b"DATA" else b"250 fine"
                if number == 0:
                    response = b"250-hello\r\n250 PIPELINING"
                elif number == after:
                    response = code.encode()
                client.sendall(response + b"\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1], heard


@pytest.mark.parametrize(("after", "kind"), [(1, SenderRefused), (2, Refused)])
def test_no_message_is_sent_after_a_rejection(after: int, kind: type[DeliveryError]) -> None:
    with refusing("550 no", after=after) as (port, heard):
        mailer = mailer_for(port)
        with mailer.open() as connection, pytest.raises(kind, match="550 no"):
            connection.send(create_message(mailer))
    assert heard[3:5] == [b"DATA", b"."]
    assert heard[5] == b"rset"


def test_invalid_server_name_is_unreachable() -> None:
    mailer = SmtpMailer(MailSettings(server="mail..example.com"))
    with pytest.raises(Unreachable, match="cannot be reached"), mailer.open():
        pass


def test_silent_server_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        mailer = mailer_for(silent.getsockname()[1], Timeouts(connect=0.3))
        with pytest.raises(Unreachable), mailer.open():
            pass
        assert time.monotonic() - started < 2


def test_server_that_stops_responding_is_unreachable() -> None:

    def greet_once(listener: socket.socket) -> None:
        client, _ = listener.accept()
        with client:
            client.sendall(b"220 hello\r\n")
            client.recv(1000)
            client.sendall(b"250 hello\r\n")
            time.sleep(1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=greet_once, args=(listener,), daemon=True).start()
        mailer = mailer_for(listener.getsockname()[1], Timeouts(command=0.3))
        with mailer.open() as connection, pytest.raises(Unreachable):
            connection.send(create_message(mailer))


def test_email_without_a_server_is_a_file_and_its_body_is_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    mailer = FolderMailer(Writer("desk@example.com"), tmp_path / "outbox")
    email = Email("ada@example.com", "Hello\u2028you", "the token", "<p>the token</p>")
    with mailer.open() as connection:
        connection.send(mailer.writer.write(email, datetime.now(UTC)))
    (path,) = (tmp_path / "outbox").glob("*.eml")
    assert message_from_bytes(path.read_bytes(), policy=policy.default)["To"] == email.to
    assert path.stat().st_mode & 0o077 == 0
    for word in (email.to, "Hello you", str(path)):
        assert word in caplog.text
    assert "the token" not in caplog.text


def test_flask_mail_settings_are_used() -> None:
    app = Flask(__name__)
    app.config.update(
        MAIL_SERVER="mail.example.com",
        MAIL_PORT=587,
        MAIL_USE_TLS=True,
        MAIL_DEFAULT_SENDER=("The Context", "desk@example.com"),
    )
    mailer = open_mailer(app, service_settings(ComposedSettings(SECRET_KEY="x")))
    assert isinstance(mailer, SmtpMailer)
    assert (mailer.mail.server, mailer.mail.port, mailer.mail.use_tls) == (
        "mail.example.com",
        587,
        True,
    )
    assert mailer.writer.sender == "desk@example.com"


def test_service_settings_are_used_and_the_password_is_hidden() -> None:
    settings = Settings(SECRET_KEY="x", MAIL_SERVER="m", MAIL_USERNAME="u", MAIL_PASSWORD="hidden")
    mailer = open_mailer(Flask(__name__), service_settings(settings))
    assert isinstance(mailer, SmtpMailer)
    assert mailer.mail.password == "hidden"
    assert "hidden" not in repr(mailer.mail)


def test_disabled_emails_open_no_connection() -> None:
    settings = ComposedSettings(SECRET_KEY="x", CORE=CoreSettings(EMAILS_ENABLED=False))
    assert isinstance(open_mailer(Flask(__name__), service_settings(settings)), NoMailer)


@pytest.mark.parametrize("name", ["MAIL_DEFAULT_SENDER", "MAIL_REPLY_TO"])
def test_invalid_sender_address_stops_the_start(name: str) -> None:
    app = Flask(__name__)
    app.config[name] = "no address"
    with pytest.raises(SettingsError, match=name):
        open_mailer(app, service_settings(ComposedSettings(SECRET_KEY="x")))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAIL_SERVER", 5),
        ("MAIL_PORT", "hunter2"),
        ("MAIL_PORT", 70_000),
        ("MAIL_USE_TLS", "maybe"),
        ("MAIL_USE_SSL", 587),
        ("MAIL_USERNAME", ["hunter2"]),
        ("MAIL_PASSWORD", 12345678),
        ("MAIL_DEFAULT_SENDER", ("The Context", "desk@example.com", "hunter2")),
        ("MAIL_DEFAULT_SENDER", ("The Context", None)),
        ("MAIL_DEFAULT_SENDER", 5),
        ("MAIL_SUPPRESS_SEND", "perhaps"),
        ("MAIL_REPLY_TO", ("hunter2",)),
        ("MAIL_LOCAL_HOSTNAME", "desk.example.com\r\nhunter2"),
    ],
)
def test_invalid_setting_is_named_without_its_value(name: str, value: object) -> None:
    app = Flask(__name__)
    app.config[name] = value
    with pytest.raises(SettingsError, match=f"Invalid settings: {name}: ") as error:
        open_mailer(app, service_settings(ComposedSettings(SECRET_KEY="x")))
    assert not {"hunter2", "12345678"} & set(str(error.value).split())


def test_settings_can_be_strings() -> None:
    given = {"MAIL_PORT": "587", "MAIL_USE_TLS": "true", "MAIL_USE_SSL": "false"}
    mail = MailSettings.read(given, service_settings(ComposedSettings(SECRET_KEY="x")))
    assert (mail.port, mail.use_tls, mail.use_ssl) == (587, True, False)


def test_empty_settings_are_ignored() -> None:
    empty = dict.fromkeys(("MAIL_SERVER", "MAIL_PORT", "MAIL_USE_TLS", "MAIL_DEFAULT_SENDER"), "")
    settings = service_settings(ComposedSettings(SECRET_KEY="x"))
    assert MailSettings.read(empty, settings) == MailSettings()
