"""`flask frontdesk config` and `generate-key`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask
from pydantic import SecretStr

from app import ComposedSettings, Frontdesk
from app.accounts.account import Account
from app.cli import terminal
from app.extension.origins import settings_of, shown
from app.extension.settings import NAMESPACES
from app.extension.sources import TOP_LEVEL

from ..conftest import MakeApp, only_on
from ..rigs.cases import for_each
from ..rigs.hosts import plain_app
from ..rigs.servers import checkout_environment
from ..rigs.signing_keys import ES256, key_set
from .test_command_line import run

HIDDEN = "hunter2"


def settings(app: Flask) -> dict[str, dict[str, str | None]]:
    rows = map(json.loads, run(app, "frontdesk", "config", "--json").splitlines())
    return {row.pop("name"): row for row in rows}


@only_on("sqlite")
def test_every_setting_is_printed_with_its_source(make_app: MakeApp, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("CORE__PROJECT_NAME=Library\n")
    found = settings(make_app(AUTH__MFA="optional"))
    names = {f"{name}__{field}" for name, kind in NAMESPACES.items() for field in kind.model_fields}
    assert set(found) == names | {name for name in TOP_LEVEL if not name.startswith("IDP_")}
    row = {"value": "optional", "source": "environment", "where": "AUTH__MFA"}
    assert found["AUTH__MFA"] == row
    row = {"value": "Library", "source": ".env", "where": "CORE__PROJECT_NAME"}
    assert found["CORE__PROJECT_NAME"] == row
    assert found["AUTH__PASSKEYS"] == {"value": "off", "source": "default", "where": None}
    assert found["BRAND__NAME"]["source"] == "other settings"


def test_sources_of_an_application_are_named() -> None:
    class Settings:
        PROJECT_NAME = "Library"

    app, db = plain_app(SECRET_KEY=HIDDEN, FRONTDESK_AUTH__PASSKEYS="on")
    app.config["FRONTDESK"] = {"BRAND": {"NAME": "Shop"}}
    Frontdesk().init_app(app, db, settings=Settings(), account_model=Account)
    found = settings(app)
    where = 'app.config["FRONTDESK"]'
    assert found["BRAND__NAME"] == {"value": "Shop", "source": "app.config", "where": where}
    where = 'app.config["FRONTDESK_AUTH__PASSKEYS"]'
    assert found["AUTH__PASSKEYS"] == {"value": "on", "source": "app.config", "where": where}
    row = {"value": "Library", "source": "Python", "where": "Settings"}
    assert found["CORE__PROJECT_NAME"] == row
    where = 'app.config["SECRET_KEY"]'
    assert found["SECRET_KEY"] == {"value": "set", "source": "app.config", "where": where}


def secret_settings() -> dict[str, str]:
    """Return a value with HIDDEN for each setting that is a secret, as a variable."""
    fields = {name: ComposedSettings.model_fields[name] for name in TOP_LEVEL}
    for namespace, kind in NAMESPACES.items():
        fields |= {f"{namespace}__{name}": field for name, field in kind.model_fields.items()}
    values = {
        "CORE__DATABASE_URL": f"postgresql://u:{HIDDEN}@127.0.0.1:1/{HIDDEN}",
        "CORE__DATABASE_DIRECT_URL": f"postgresql+psycopg://{HIDDEN}:{HIDDEN}@db.example.com/d",
        "CORE__DATABASE_READ_URL": f"postgresql+psycopg://u:{HIDDEN}/@r.example.com/d",
        "CORE__REDIS_URL": f"redis://:{HIDDEN}@redis.example.com/0?password={HIDDEN}",
        "CORE__CELERY_BROKER_URL": f"amqp://u:{HIDDEN}@broker.example.com//{HIDDEN}",
        "AUTH__SIGNING_KEYS": key_set(ES256 | {"note": HIDDEN}),
    }
    found = {}
    for name, field in fields.items():
        if "SecretStr" in str(field.annotation):
            is_list = str(field.annotation).startswith("list")
            key = f"{HIDDEN} and enough other characters for a key"
            found[name] = values.get(name, json.dumps([key]) if is_list else key)
    return found


@only_on("sqlite")
def test_no_secret_is_printed(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    given = secret_settings()
    assert {"SECRET_KEY", "MAIL_PASSWORD", "AUTH__ENCRYPTION_KEYS"} < given.keys()
    # The application must start without the servers of these URLs.
    app = make_app(**{**given, "CORE__KEYSTORE": "memory"})
    found = settings(app)
    # The name without a namespace sets the field of the namespace.
    names = given.keys() - {"IDP_OAUTH_CLIENT_SECRET"}
    assert {name: found[name]["value"] for name in names} == dict.fromkeys(names, "set")
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: True)
    for options in ([], ["--json"]):
        assert HIDDEN not in run(app, "frontdesk", "config", *options)


@for_each(
    "url",
    [
        f"https://user:{HIDDEN}@idp.example.com/.well-known/openid-configuration",
        f"https://user:{HIDDEN}/with/slashes@idp.example.com/",
        f"https://user:{HIDDEN}@{HIDDEN}@idp.example.com/",
        f"https://{HIDDEN}@idp.example.com",
    ],
)
def test_password_in_a_url_of_a_public_setting_is_hidden(url: str) -> None:
    for value in (url, [url], {"url": url}):
        text = shown(value, False)
        assert HIDDEN not in text
        assert "idp.example.com" in text


@for_each(
    "url",
    [
        f"postgresql+psycopg://u:{HIDDEN}/x@db.example.com/d?password={HIDDEN}",
        f"postgresql+psycopg://u@db.example.com/d?password=a@{HIDDEN}",
        f"redis+sentinel://:{HIDDEN}@a.example.com,b.example.com/m/0?sentinel_password={HIDDEN}",
    ],
)
def test_secret_url_is_shown_without_its_credentials_in_the_console(url: str) -> None:
    assert HIDDEN not in shown(SecretStr(url), True)


def test_secrets_in_a_mapping_are_hidden() -> None:
    value = {"password": SecretStr(HIDDEN), "API_TOKEN": HIDDEN, "name": "x"}
    assert shown(value, False) == "password: •••, API_TOKEN: •••, name: x"


@only_on("sqlite")
def test_config_and_settings_page_have_the_same_settings(app: Flask) -> None:
    with app.app_context():
        spaces = settings_of(app.extensions["frontdesk"])
    assert set(settings(app)) == {each.name for space in spaces for each in space.settings}


def flask(folder: Path, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "flask", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_settings_of_a_dotenv_are_told_from_variables(tmp_path: Path) -> None:
    """At the real command line, where Flask copies the file to the environment."""
    lines = ["CORE__PROJECT_NAME=Library", "CORE__LANGUAGE=de", "AUTH__LOGIN_LIMIT=5/hour"]
    (tmp_path / ".env").write_text("\n".join(lines))
    url = f"sqlite:///{tmp_path / 'accounts.db'}"
    given = checkout_environment(CORE__LANGUAGE="fr", AUTH__MFA="optional", CORE__DATABASE_URL=url)
    output = flask(tmp_path, "--app", "wsgi", "frontdesk", "config", "--json", **given)
    found = {row["name"]: row["source"] for row in map(json.loads, output.splitlines())}
    names = ("CORE__PROJECT_NAME", "AUTH__LOGIN_LIMIT", "CORE__LANGUAGE", "AUTH__MFA")
    assert [found[name] for name in names] == [".env", ".env", "environment", "environment"]


def is_key(text: str) -> bool:
    return len(text.strip()) == 64 and len(set(text)) > 8


@only_on("sqlite")
def test_generated_key_is_random(app: Flask) -> None:
    keys = {run(app, "frontdesk", "generate-key").strip() for _ in range(3)}
    assert len(keys) == 3
    assert all(map(is_key, keys))
    assert is_key(json.loads(run(app, "frontdesk", "generate-key", "--json"))["key"])


def test_service_generates_a_key_without_valid_settings(tmp_path: Path) -> None:
    wrong = checkout_environment(AUTH__LOGIN_LIMITT="wrong", CORE__DATABASE_URL="nonsense")
    assert is_key(flask(tmp_path, "--app", "wsgi", "frontdesk", "generate-key", **wrong))
