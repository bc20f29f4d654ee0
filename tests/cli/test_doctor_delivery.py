"""The doctor connects to the mail server and the broker, and names the wrong setting."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy.engine import make_url

from app import Frontdesk, create_app
from app.core.config.environment import load
from app.delivery import doctor as doctor_delivery
from app.delivery.mail.smtp_connection import Timeouts
from config import Settings

from ..rigs.backends import AMQP, free_port, rabbitmq_queue, redis_server, wait_for_port
from ..rigs.hosts import HostSettings, plain_app
from ..rigs.postfix import PASSWORD, USER, Postfix

Findings = Callable[..., list[str]]


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> Findings:
    """Return the messages of a check with the given settings."""

    def findings(check: str, **settings: str) -> list[str]:
        for name, value in {"CORE__DATABASE_URL": "sqlite://", **settings}.items():
            monkeypatch.setenv(name, value)
        return messages(create_app(load(Settings)), check)

    return findings


def messages(app: Flask, check: str) -> list[str]:
    result = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
    report = json.loads(result.stdout.splitlines()[-1])
    return [finding["message"] for finding in report["findings"] if finding["check"] == check]


@pytest.fixture
def mail(relay: Postfix, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Settings that work with the relay."""
    monkeypatch.setenv("SSL_CERT_FILE", str(relay.authority))
    return {
        "MAIL_SERVER": "localhost",
        "MAIL_PORT": str(relay.port),
        "MAIL_USE_TLS": "true",
        "MAIL_USERNAME": USER,
        "MAIL_PASSWORD": PASSWORD,
        "MAIL_DEFAULT_SENDER": "desk@example.com",
    }


def test_working_mail_server_is_no_finding_and_gets_no_email(
    findings: Findings, mail: dict[str, str], relay: Postfix
) -> None:
    relay.sink.received.clear()
    assert findings("mail", **mail) == []
    assert relay.sink.received == []


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"MAIL_PASSWORD": "wrong"}, "MAIL_USERNAME or MAIL_PASSWORD is wrong: 535"),
        ({"MAIL_PASSWORD": ""}, "MAIL_USERNAME is set and MAIL_PASSWORD is not"),
        ({"SSL_CERT_FILE": "/dev/null"}, "set SSL_CERT_FILE to the authority's"),
        ({"MAIL_USE_SSL": "true"}, "MAIL_USE_TLS (port 587) and MAIL_USE_SSL (port 465) are both"),
        (
            {"MAIL_USE_TLS": "false", "MAIL_USE_SSL": "true"},
            "MAIL_USE_TLS in place of MAIL_USE_SSL",
        ),
        ({"MAIL_USE_TLS": "false"}, "offers no sign-in without TLS; set MAIL_USE_TLS"),
        ({"MAIL_PORT": "1"}, "nothing listens at localhost:1; see MAIL_SERVER and MAIL_PORT"),
        ({"MAIL_SERVER": "mail..example.com"}, "mail..example.com is not found; see MAIL_SERVER"),
        ({"MAIL_LOCAL_HOSTNAME": "vm"}, "likely for MAIL_LOCAL_HOSTNAME: receiver: 504 5.5.2"),
        ({"MAIL_DEFAULT_SENDER": "desk@vm"}, "likely for MAIL_DEFAULT_SENDER: receiver: 504 5.5.2"),
    ],
)
def test_mail_error_names_the_setting(
    findings: Findings, mail: dict[str, str], settings: dict[str, str], sentence: str
) -> None:
    found = findings("mail", **mail | settings)
    assert sentence in found[0]


def test_starttls_on_the_port_for_implicit_tls_is_recognized(
    findings: Findings, mail: dict[str, str], relay: Postfix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_delivery, "TIMEOUTS", Timeouts(connect=0.5))
    (message,) = findings("mail", **mail | {"MAIL_PORT": str(relay.tls_port)})
    assert message.endswith("(port 465), set MAIL_USE_SSL in place of MAIL_USE_TLS.")


def test_slow_mail_server_is_not_waited_for(
    findings: Findings, mail: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_delivery, "TOTAL_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = str(silent.getsockname()[1])
        (message,) = findings("mail", **mail | {"MAIL_PORT": port})
    assert f"localhost:{port} needs more than 0 seconds to accept a connection" in message


def test_mail_server_of_the_application_is_checked() -> None:
    host, db = plain_app(MAIL_SERVER="localhost", MAIL_PORT=1)
    Frontdesk().init_app(host, db, settings=HostSettings())
    assert "nothing listens at localhost:1" in messages(host, "mail")[0]


def test_password_without_encryption_is_a_warning(
    findings: Findings, mail: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_delivery, "TIMEOUTS", Timeouts(connect=0.1))
    remote = {"MAIL_SERVER": "192.0.2.1", "MAIL_USE_TLS": "false"}
    assert "without encryption. Set MAIL_USE_TLS=true." in findings("mail", **mail | remote)[0]


@pytest.fixture
def rabbitmq() -> Iterator[str]:
    with rabbitmq_queue():
        yield AMQP


@pytest.mark.parametrize("broker", ["redis_url", "rabbitmq"])
def test_working_broker_is_no_finding(
    request: pytest.FixtureRequest, findings: Findings, broker: str
) -> None:
    assert findings("broker", CORE__CELERY_BROKER_URL=request.getfixturevalue(broker)) == []


@pytest.fixture
def locked_redis(tmp_path: Path) -> Iterator[str]:
    port = free_port()
    with redis_server(tmp_path, port):
        wait_for_port(port)
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"CONFIG SET requirepass right\r\n")
            assert connection.recv(100) == b"+OK\r\n"
        yield f"127.0.0.1:{port}"


def test_broker_that_rejects_the_password_is_reported_without_it(
    findings: Findings, locked_redis: str
) -> None:
    (message,) = findings("broker", CORE__CELERY_BROKER_URL=f"redis://:wrong@{locked_redis}/0")
    assert message == (
        f"The broker redis://:**@{locked_redis}/0 rejects the user or the password. Check"
        " CORE__CELERY_BROKER_URL."
    )


def test_password_of_a_broker_with_sentinels_is_hidden(findings: Findings) -> None:
    url = "redis+sentinel://:hunter2@127.0.0.1:1,127.0.0.1:2/mymaster/0?sentinel_password=hunter2"
    (message,) = findings("broker", CORE__CELERY_BROKER_URL=url)
    assert "sentinel://:**@127.0.0.1:1/0;sentinel://:**@127.0.0.1:2/0" in message
    assert "hunter2" not in message


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("redis://127.0.0.1:1/0", "refuses connections: no server listens there"),
        ("amqp://127.0.0.1:1//", "refuses connections: no server listens there"),
        ("redis://mail..example.com/0", "has a host name that cannot be resolved"),
        ("pigeon://127.0.0.1/0", "has a scheme that Celery does not support"),
    ],
)
def test_unusable_broker_is_reported(findings: Findings, url: str, sentence: str) -> None:
    (message,) = findings("broker", CORE__CELERY_BROKER_URL=url)
    assert message.endswith(f"{sentence}. Check CORE__CELERY_BROKER_URL.")


def test_rejection_by_rabbitmq_is_reported(findings: Findings, rabbitmq: str) -> None:
    user = make_url(rabbitmq)
    wrong_user = user.set(password="wrong").render_as_string(hide_password=False)
    (message,) = findings("broker", CORE__CELERY_BROKER_URL=wrong_user)
    assert "rejects the user or the password" in message
    elsewhere = user.set(database="nowhere").render_as_string(hide_password=False)
    (message,) = findings("broker", CORE__CELERY_BROKER_URL=elsewhere)
    assert "has no such virtual host" in message


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_silent_broker_is_not_waited_for(
    findings: Findings, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setattr(doctor_delivery, "TOTAL_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}//"
        (message,) = findings("broker", CORE__CELERY_BROKER_URL=url)
    assert "does not respond" in message
