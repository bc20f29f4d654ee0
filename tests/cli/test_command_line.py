from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.blueprints import auth
from app.core.context import DoctorChecks
from app.testing.client import Api

from ..auth.test_login import listen_to, log_in
from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.backends import free_port
from ..rigs.hosts import host_with, settings_with_active
from ..rigs.servers import ROOT
from ..rigs.smtp import smtp_sink


def run(app: Flask, *args: str, code: int = 0) -> str:
    result = app.test_cli_runner().invoke(args=list(args))
    assert result.exit_code == code, result.output
    # Standard error is not part of the output of a successful command.
    return str(result.output if code else result.stdout)


def create(app: Flask, *options: str, code: int = 0) -> Any:
    output = run(
        app, "accounts", "create", "Bob@example.com", "--password", PASSWORD, *options, code=code
    )
    return json.loads(output) if code == 0 else output


def test_create_prints_the_account_and_emits_the_signal(app: Flask) -> None:
    emails: list[str] = []
    listen_to(app, "account-registered", lambda account, _: emails.append(account.email))
    account = create(app, "--role", "admin", "--phone", "+1 500 555 0006")
    assert (account["email"], account["role"]) == ("bob@example.com", "admin")
    assert account["phone"] == "+15005550006"
    assert emails == ["bob@example.com"]
    log_in(Api(app), "bob@example.com", PASSWORD)


def test_create_reports_invalid_values(app: Flask) -> None:
    create(app)
    assert "already exists" in create(app, code=1)
    assert "phone" in create(app, "--phone", "12", code=1)
    assert "email" in run(app, "accounts", "create", "x", "--password", PASSWORD, code=1)
    assert "at least 8" in run(app, "accounts", "create", "a@b.example", "--password", "x", code=1)


@pytest.mark.parametrize(
    "command",
    ["accounts list", "workspaces list", "notifications status", "notifications prune --days 9"],
)
@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("sqlite:///{0}/empty.db", "run `flask db upgrade`"),
        ("postgresql://postgres@127.0.0.1:{1}/nothing", "The database is unavailable: "),
    ],
)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_unusable_database_is_one_error_message(
    make_app: MakeApp, tmp_path: Path, command: str, url: str, sentence: str
) -> None:
    app = make_app(CORE__DATABASE_URL=url.format(tmp_path, free_port()))
    output = run(app, *command.split(), code=1)
    assert sentence in output
    assert len(output.splitlines()) == 1


def test_list_prints_an_account_on_each_line(app: Flask, ada: Person) -> None:
    create(app)
    lines = run(app, "accounts", "list").splitlines()
    assert [json.loads(line)["email"] for line in lines] == ["ada@example.com", "bob@example.com"]


def test_set_changes_only_the_given_options(app: Flask, ada: Person) -> None:
    api = ada.api()
    run(app, "accounts", "set", ada.email, "--status", "suspended", "--role", "admin")
    account = api.get("/account").json
    assert (account["status"], account["role"]) == ("suspended", "admin")
    run(app, "accounts", "set", ada.email, "--email", "countess@example.com")
    api.get("/account", 404)


def test_taken_email_is_one_sentence(app: Flask, person: MakePerson) -> None:
    for name in ("ada", "bob"):
        person(name)
    command = ("accounts", "set", "ada@example.com", "--email", "bob@example.com", "--phone", "")
    output = run(app, *command, code=1)
    text = "An account with the email address bob@example.com already exists."
    assert output == f"Error: {text}\n"


def test_status_without_pending_deliveries_says_so(app: Flask) -> None:
    result = app.test_cli_runner().invoke(args=["notifications", "status"])
    assert result.output == "No delivery is pending.\n"
    assert json.loads(run(app, "notifications", "status", "--json"))["oldest_waits_seconds"] == 0.0


def test_unknown_status_is_rejected(app: Flask, ada: Person) -> None:
    output = run(app, "accounts", "set", ada.email, "--status", "activ", code=2)
    assert "'activ' is not one of active, inactive, online, suspended" in output
    assert "is not one of" in create(app, "--status", "vip", code=2)


def test_active_status_of_the_application_is_accepted() -> None:
    host = host_with((auth, ""), settings=settings_with_active("vip"))
    assert create(host, "--status", "vip")["status"] == "vip"


def test_sign_out_revokes_all_tokens_of_an_account(
    app: Flask, ada: Person, person: MakePerson
) -> None:
    emails: list[str] = []
    listen_to(app, "account-logged-out", lambda account, _: emails.append(account.email))
    mine, other = ada.api(), person("bob").api()
    assert json.loads(run(app, "accounts", "sign-out", ada.email))["email"] == ada.email
    mine.get("/account", 401)
    ada.api().get("/account")
    mine.get("/account", 401)
    other.get("/account")
    assert emails == [ada.email]


def test_sign_out_of_all_accounts_revokes_all_tokens(
    app: Flask, ada: Person, person: MakePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.auth.sign_in.sign_out.ROWS_AT_ONCE", 2)
    apis = [each.api() for each in (ada, *(person(name) for name in ("bob", "eve", "joe", "zoe")))]
    assert json.loads(run(app, "accounts", "sign-out", "--all")) == {"accounts": 5}
    for api in apis:
        api.get("/account", 401)
    ada.api().get("/account")


@pytest.mark.parametrize("options", [[], ["ada@example.com", "--all"]])
def test_sign_out_needs_an_account_or_all(app: Flask, ada: Person, options: list[str]) -> None:
    api = ada.api()
    assert "--all" in run(app, "accounts", "sign-out", *options, code=2)
    api.get("/account")


def test_delete_removes_the_account(app: Flask, ada: Person) -> None:
    api = ada.api()
    run(app, "accounts", "delete", ada.email)
    assert api.get("/account", 404).detail == "Account not found"
    output = run(app, "accounts", "delete", ada.email, code=1)
    assert output == f"Error: No account has the email address {ada.email}.\n"


@pytest.mark.parametrize("email", ["root@example.com", "Boss@Example.com"])
def test_first_superuser_is_created_once(make_app: MakeApp, email: str) -> None:
    app = make_app(FIRST_SUPERUSER=email, FIRST_SUPERUSER_PASSWORD=PASSWORD)
    first = json.loads(run(app, "accounts", "ensure-superuser"))
    assert (first["role"], first["email"]) == ("root", email.lower())
    assert json.loads(run(app, "accounts", "ensure-superuser"))["id"] == first["id"]


def test_default_password_is_rejected_outside_debug_mode(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app()
    assert "default" in run(app, "accounts", "ensure-superuser", code=1)
    monkeypatch.setenv("FLASK_DEBUG", "1")
    run(app, "accounts", "ensure-superuser")
    report = doctor(app, code=1)
    assert "superuser" in report["fault"]


def doctor(app: Flask, code: int) -> dict[str, list[str]]:
    report = json.loads(run(app, "frontdesk", "doctor", "--json", code=code))
    assert report["ok"] is (code == 0)
    found: dict[str, list[str]] = {"fault": [], "warning": []}
    for finding in report["findings"]:
        found[finding["level"]].append(finding["check"])
    return found


Given = dict[str, str]


@pytest.fixture(scope="module")
def sound() -> Iterator[Given]:
    """Settings without a finding."""
    with smtp_sink() as sink:
        yield {
            "FIRST_SUPERUSER_PASSWORD": PASSWORD,
            "MAIL_SERVER": "127.0.0.1",
            "MAIL_PORT": str(sink.port),
            "SMS_ACCOUNT_SID": "AC1",
            "SMS_AUTH_TOKEN": "t",
            "SMS_PHONE_NUMBER": "+15005550006",
            "CORE__KEYSTORE": "database",
            "PROFILES__VISIBILITY": "workspaces",
            # A separate client, so that links in emails do not lead to the console.
            "CORE__CLIENT_HOST": "http://localhost:3000",
        }


def test_doctor_finds_nothing_in_a_correct_configuration(make_app: MakeApp, sound: Given) -> None:
    assert doctor(make_app(**sound), 0) == {"fault": [], "warning": []}


def test_doctor_has_the_checks_of_all_features(make_app: MakeApp) -> None:
    app = make_app(
        AUTH__MFA="optional",
        AUTH__PASSKEYS="on",
        AUTH__ENABLE_IDP_OAUTH="true",
        IDP_METADATA_URL="http://provider.invalid/",
        IDP_OAUTH_CLIENT_ID="frontdesk",
        IDP_REDIRECT_URI="https://app.example.com/signed-in",
    )
    contributed = {each.module for each in app.extensions["frontdesk"].contributions(DoctorChecks)}
    modules = {path.relative_to(ROOT).with_suffix("") for path in (ROOT / "app").rglob("doctor.py")}
    assert contributed == {".".join(module.parts) for module in modules} - {"app.core.doctor"}


_EXAMPLE_COM = {"AUTH__WEBAUTHN_RP_ID": "example.com"}
NO_REDIS = {"CORE__REDIS_URL": "redis://127.0.0.1:1", "CORE__KEYSTORE": "redis"}


@pytest.mark.parametrize(
    ("settings", "level", "check"),
    [
        ({"SECRET_KEY": ""}, "fault", "secret_key"),
        ({"SECRET_KEY": "short"}, "fault", "secret_key"),
        ({"FIRST_SUPERUSER_PASSWORD": "changethis"}, "fault", "superuser"),
        (
            {"CORE__REDIS_URL": "redis://127.0.0.1:1", "CORE__KEYSTORE": "redis"},
            "fault",
            "keystore",
        ),
        ({"CORE__KEYSTORE": "memory"}, "warning", "keystore"),
        ({"MAIL_SERVER": ""}, "warning", "mail"),
        ({"CORE__EMAILS_ENABLED": "false"}, "warning", "mail"),
        ({"SMS_AUTH_TOKEN": ""}, "warning", "sms"),
        (
            {
                "CORE__CLIENT_HOST": "http://app.example.com",
                "CORE__PUBLIC_URL": "https://api.example.com",
                "CORE__TRUSTED_PROXIES": "1",
            },
            "warning",
            "client_host",
        ),
        ({"CORE__CLIENT_HOST": "https://app.example.com"}, "warning", "public_url unsubscribe"),
        ({"CORE__PUBLIC_URL": "https://api.example.com"}, "warning", "proxies"),
        ({"PROFILES__AVATAR_FOLDER": "/dev/null"}, "fault", "file_store"),
        ({"PROFILES__VISIBILITY": "everyone"}, "warning", "profiles"),
        *(
            ({"AUTH__PASSKEYS": "on", **settings}, "fault", "passkeys")
            for settings in (
                {"AUTH__WEBAUTHN_RP_ID": "example.com"},
                {"AUTH__WEBAUTHN_ORIGINS": '["https://notlocalhost"]'},
                {"AUTH__WEBAUTHN_ORIGINS": '["http://app.example.com"]', **_EXAMPLE_COM},
                {"CORE__CLIENT_HOST": "http://127.0.0.1:3000"},
            )
        ),
    ],
)
def test_doctor_finds_misconfiguration(
    make_app: MakeApp, sound: Given, settings: Given, level: str, check: str
) -> None:
    found = doctor(make_app(**{**sound, **settings}), 1 if level == "fault" else 0)
    assert found[level] == check.split()


@pytest.mark.parametrize(
    "settings",
    [
        {"CORE__PUBLIC_URL": "https://api.example.com", "CORE__TRUSTED_PROXIES": "1"},
        {"CORE__PUBLIC_URL": "http://api.example.com"},
        {"CORE__PUBLIC_URL": "https://localhost:8443"},
        {
            "AUTH__PASSKEYS": "on",
            "AUTH__WEBAUTHN_ORIGINS": '["https://app.example.com", "https://example.com"]',
            **_EXAMPLE_COM,
        },
    ],
)
def test_correct_proxies_and_passkey_origins_are_no_finding(
    make_app: MakeApp, sound: Given, settings: Given
) -> None:
    assert doctor(make_app(**{**sound, **settings}), 0)["warning"] == []


def test_links_to_a_missing_console_are_a_finding(make_app: MakeApp, sound: Given) -> None:
    chosen = {name: value for name, value in sound.items() if name != "CORE__CLIENT_HOST"}
    assert doctor(make_app(**chosen), 0)["warning"] == ["console"]
    assert doctor(make_app(**chosen, CORE__CONSOLE_ENABLED="false"), 0)["warning"] == []
    public = {**chosen, "CORE__PUBLIC_URL": "http://desk.example.com"}
    assert doctor(make_app(**public), 0)["warning"] == ["client_host", "unsubscribe"]


def test_chosen_public_fields_are_no_finding(make_app: MakeApp, sound: Given) -> None:
    chosen = {"PROFILES__VISIBILITY": "everyone", "PROFILES__PUBLIC_FIELDS": '["first_name"]'}
    assert doctor(make_app(**{**sound, **chosen}), 0)["warning"] == []


def test_missing_pillow_is_a_finding(
    make_app: MakeApp, sound: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert doctor(make_app(**sound), 0)["warning"] == ["profiles"]


def test_memory_store_with_several_workers_is_an_error(
    make_app: MakeApp, sound: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_CONCURRENCY", "4")
    assert doctor(make_app(**{**sound, "CORE__KEYSTORE": "memory"}), 1)["fault"] == ["keystore"]


def test_pending_migrations_are_an_error(make_app: MakeApp, sound: Given, tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'empty.db'}"
    app = make_app(**{**sound, "CORE__DATABASE_URL": url, "FIRST_SUPERUSER": ""})
    assert "migrations" in doctor(app, 1)["fault"]
