from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app import auth
from app.testing.client import Api

from .backends import free_port
from .conftest import PASSWORD, MakeApp, Person
from .hosts import host_of
from .test_login import listen_to, log_in


def run(app: Flask, *args: str, code: int = 0) -> str:
    result = app.test_cli_runner().invoke(args=list(args))
    assert result.exit_code == code, result.output
    return str(result.output)


def create(app: Flask, *options: str, code: int = 0) -> Any:
    output = run(
        app, "accounts", "create", "Bob@example.com", "--password", PASSWORD, *options, code=code
    )
    return json.loads(output) if code == 0 else output


def test_create_prints_the_account_as_json_on_one_line_and_tells_it(app: Flask) -> None:
    told = []
    listen_to(app, "account-registered", lambda account, _: told.append(account.email))
    account = create(app, "--role", "admin", "--phone", "+1 500 555 0006")
    assert (account["email"], account["role"]) == ("bob@example.com", "admin")
    assert account["phone"] == "+15005550006"
    assert told == ["bob@example.com"]
    log_in(Api(app), "bob@example.com", PASSWORD)


def test_create_says_in_a_sentence_what_is_wrong(app: Flask) -> None:
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
        ("postgresql://postgres@127.0.0.1:{1}/nothing", "The database is out of reach: "),
    ],
)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_database_that_cannot_be_used_is_said_in_a_sentence(
    make_app: MakeApp, tmp_path: Path, command: str, url: str, sentence: str
) -> None:
    app = make_app(CORE__DATABASE_URL=url.format(tmp_path, free_port()))
    output = run(app, *command.split(), code=1)
    assert sentence in output
    assert len(output.splitlines()) == 1


def test_list_prints_one_account_on_a_line(app: Flask, ada: Person) -> None:
    create(app)
    lines = run(app, "accounts", "list").splitlines()
    assert [json.loads(line)["email"] for line in lines] == ["ada@example.com", "bob@example.com"]


def test_set_changes_what_is_given(app: Flask, ada: Person) -> None:
    api = ada.api()
    run(app, "accounts", "set", ada.email, "--status", "suspended", "--role", "admin")
    account = api.get("/account").json
    assert (account["status"], account["role"]) == ("suspended", "admin")
    run(app, "accounts", "set", ada.email, "--email", "countess@example.com")
    api.get("/account", 404)


def test_a_status_that_nobody_knows_is_refused(app: Flask, ada: Person) -> None:
    told = run(app, "accounts", "set", ada.email, "--status", "activ", code=2)
    assert "'activ' is not one of active, inactive, online, suspended" in told
    assert "is not one of" in create(app, "--status", "vip", code=2)


def test_a_hosts_own_active_statuses_are_known() -> None:
    host = host_of((auth, ""), active_statuses=["vip"])
    assert create(host, "--status", "vip")["status"] == "vip"


def test_delete_takes_the_account_away(app: Flask, ada: Person) -> None:
    api = ada.api()
    run(app, "accounts", "delete", ada.email)
    assert api.get("/account", 404).detail == "Account not found"
    assert "not found" in run(app, "accounts", "delete", ada.email, code=1)


@pytest.mark.parametrize("email", ["root@example.com", "Boss@Example.com"])
def test_the_first_superuser_is_made_once(make_app: MakeApp, email: str) -> None:
    app = make_app(FIRST_SUPERUSER=email, FIRST_SUPERUSER_PASSWORD=PASSWORD)
    first = json.loads(run(app, "accounts", "ensure-superuser"))
    assert (first["role"], first["email"]) == ("root", email.lower())
    assert json.loads(run(app, "accounts", "ensure-superuser"))["id"] == first["id"]


def test_the_default_password_is_refused_outside_debug(
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


SOUND = {
    "FIRST_SUPERUSER_PASSWORD": PASSWORD,
    "MAIL_SERVER": "127.0.0.1",
    "SMS_ACCOUNT_SID": "AC1",
    "SMS_AUTH_TOKEN": "t",
    "SMS_PHONE_NUMBER": "+15005550006",
    "CORE__KEYSTORE": "database",
}


def test_the_doctor_finds_nothing_in_a_sound_set_up(make_app: MakeApp) -> None:
    assert doctor(make_app(**SOUND), 0) == {"fault": [], "warning": []}


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
            },
            "warning",
            "client_host",
        ),
        ({"CORE__CLIENT_HOST": "https://app.example.com"}, "warning", "public_url"),
        ({"PROFILES__AVATAR_FOLDER": "/dev/null"}, "fault", "file_store"),
    ],
)
def test_the_doctor_finds_what_would_bite(
    make_app: MakeApp, settings: dict[str, str], level: str, check: str
) -> None:
    found = doctor(make_app(**{**SOUND, **settings}), 1 if level == "fault" else 0)
    assert found[level] == [check]


def test_memory_with_several_workers_is_a_fault(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_CONCURRENCY", "4")
    assert doctor(make_app(**{**SOUND, "CORE__KEYSTORE": "memory"}), 1)["fault"] == ["keystore"]


def test_pending_migrations_are_a_fault(make_app: MakeApp, tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'empty.db'}"
    app = make_app(**{**SOUND, "CORE__DATABASE_URL": url, "FIRST_SUPERUSER": ""})
    assert "migrations" in doctor(app, 1)["fault"]
