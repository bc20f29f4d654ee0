"""Where an application that mounts Frontdesk may set its mail server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app import ComposedSettings, Frontdesk, SettingsError, create_app
from app.accounts.account import Account
from app.blueprints import auth
from app.core.context import Context
from app.delivery.mail.settings import MailSettings
from app.extension.origins import settings_of
from app.testing.client import Api
from app.testing.people import make_person

from ..rigs.hosts import plain_app
from ..rigs.smtp import Sink, smtp_sink

SERVER = "smtp.example.com"


def host_with(settings: object | None = None, **config: Any) -> Flask:
    host, db = plain_app(SECRET_KEY="a key of the application, long enough for it", **config)
    Frontdesk().init_app(host, db, settings=settings, account_model=Account)
    return host


def mail_of(host: Flask) -> MailSettings:
    context: Context = host.extensions["frontdesk"]
    return MailSettings.read(host.config, context.settings)


def findings(host: Flask) -> list[tuple[str, str]]:
    output = host.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"]).stdout
    found = json.loads(output.splitlines()[-1])["findings"]
    return [(each["level"], each["message"]) for each in found if each["check"] == "settings"]


@pytest.mark.parametrize("name", ["MAIL_SERVER", "FRONTDESK_MAIL_SERVER"])
@pytest.mark.parametrize("make", [lambda: None, ComposedSettings])
def test_variable_sets_the_mail_server(
    name: str, make: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, SERVER)
    monkeypatch.setenv(name.replace("SERVER", "PORT"), "2525")
    mail = mail_of(host_with(make()))
    assert (mail.server, mail.port) == (SERVER, 2525)


@pytest.mark.parametrize("prefix", ["", "FRONTDESK_"])
def test_dotenv_sets_the_mail_server(prefix: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"{prefix}MAIL_SERVER={SERVER}\n{prefix}MAIL_USE_TLS=true\n")
    mail = mail_of(host_with())
    assert (mail.server, mail.use_tls) == (SERVER, True)


def test_frontdesk_configuration_sets_the_mail_server() -> None:
    sender = ("Shop", "shop@example.com")
    ours = {"MAIL_SERVER": SERVER, "MAIL_DEFAULT_SENDER": sender}
    mail = mail_of(host_with(FRONTDESK=ours))
    assert (mail.server, mail.default_sender) == (SERVER, "Shop <shop@example.com>")


def test_application_configuration_takes_precedence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIL_SERVER", "plain.example.com")
    monkeypatch.setenv("FRONTDESK_MAIL_SERVER", "prefixed.example.com")
    ours = {"MAIL_SERVER": "inner.example.com"}
    host = host_with(MAIL_SERVER=SERVER, FRONTDESK=ours, FRONTDESK_MAIL_SERVER="f.example.com")
    assert mail_of(host).server == SERVER
    [plain, *_] = settings_of(host.extensions["frontdesk"])
    [shown] = [each for each in plain.settings if each.name == "MAIL_SERVER"]
    assert (shown.value, shown.where) == (SERVER, 'app.config["MAIL_SERVER"]')
    because = 'has no effect, because app.config["MAIL_SERVER"] is set. Remove one.'
    assert findings(host) == [
        ("fault", f"FRONTDESK_MAIL_SERVER {because}"),
        ("fault", f'app.config["FRONTDESK_MAIL_SERVER"] {because}'),
        ("fault", f'app.config["FRONTDESK"]["MAIL_SERVER"] {because}'),
    ]


def test_prefixed_variable_that_flask_also_reads_is_no_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FRONTDESK_MAIL_USE_TLS", "true")
    monkeypatch.setenv("FRONTDESK_MAIL_PORT", "587")
    host, db = plain_app(SECRET_KEY="a key of the application, long enough for it")
    host.config.from_prefixed_env("FRONTDESK")
    Frontdesk().init_app(host, db, account_model=Account)
    assert findings(host) == []


def test_empty_variable_keeps_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAIL_SERVER", "MAIL_PORT", "MAIL_USE_TLS", "MAIL_USERNAME", "MAIL_PASSWORD"):
        monkeypatch.setenv(name, "")
    mail = mail_of(host_with())
    assert (mail.server, mail.port, mail.use_tls, mail.username) == ("", 25, False, None)


@pytest.mark.parametrize("name", ["MAIL_PORT", "FRONTDESK_MAIL_PORT"])
def test_invalid_value_stops_the_start_and_names_the_variable(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "hunter2")
    with pytest.raises(
        SettingsError, match=f"Invalid settings: {name}: .*valid integer"
    ) as rejected:
        host_with()
    assert "hunter2" not in str(rejected.value)


@pytest.mark.parametrize(
    ("name", "suggestion"), [("MAIL_SERVR", "MAIL_SERVER"), ("SMS_PHONE_NUMER", "SMS_PHONE_NUMBER")]
)
def test_doctor_reports_a_misspelled_plain_name(
    name: str, suggestion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"The setting {name} does not exist. Do you mean {suggestion}?"
    assert findings(host_with(**{name: "x"})) == [("fault", text)]
    monkeypatch.setenv(name, "x")
    assert findings(host_with()) == [("fault", text)]
    assert ("fault", text) in findings(create_app())


def test_names_of_flask_mail_and_of_the_application_are_no_findings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MAIL_FOOTER_TEXT", "ours")
    assert findings(host_with(MAIL_MAX_EMAILS=5, MAIL_DEBUG=False)) == []


def test_doctor_reports_a_prefixed_name_in_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTDESK_MAIL_SERVER", SERVER)
    text = "The service does not read FRONTDESK_MAIL_SERVER. Set MAIL_SERVER instead."
    assert ("fault", text) in findings(create_app())


def test_sms_and_first_superuser_are_read_from_plain_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SMS_ACCOUNT_SID", "AC1")
    monkeypatch.setenv("FIRST_SUPERUSER", "root@example.com")
    settings = host_with().extensions["frontdesk"].settings
    assert settings.top_level("SMS_ACCOUNT_SID") == "AC1"
    assert settings.top_level("FIRST_SUPERUSER") == "root@example.com"


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as running:
        yield running


def test_reset_email_is_sent_by_the_server_of_the_environment(
    sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAIL_SERVER", "127.0.0.1")
    monkeypatch.setenv("MAIL_PORT", str(sink.port))
    monkeypatch.setenv("AUTH__BCRYPT_ROUNDS", "4")
    monkeypatch.setenv("CORE__LOG_LEVEL", "ERROR")
    host = host_with()
    host.register_blueprint(auth, url_prefix="/api")
    with host.app_context():
        host.extensions["sqlalchemy"].create_all()
    ada = make_person(host, "ada")
    assert Api(host, "/api").post("/password-recovery", json={"email": ada.email}).status == 200
    sink.wait_for(1)


def test_settings_command_hides_secrets_of_every_type() -> None:
    class Settings:
        SMS_AUTH_TOKEN = 12345678
        FIRST_SUPERUSER_PASSWORD = "hunter2"

    [plain, *_] = settings_of(host_with(Settings()).extensions["frontdesk"])
    shown = {each.name: (each.value, each.is_secret) for each in plain.settings}
    assert shown["SMS_AUTH_TOKEN"] == shown["FIRST_SUPERUSER_PASSWORD"] == ("•••", True)
    assert shown["MAIL_PASSWORD"] == ("", True)
