"""The scripts convert samples that follow the documentation of their software:

- Auth0, "How to Use the Password Hashes Export" and "User Import/Export: user fields";
- Amazon Cognito, "ListUsers";
- Firebase, "CLI reference: auth:import and auth:export", and "Password hash parameters";
- Keycloak, "Importing and exporting realms" (`UserRepresentation`, `CredentialRepresentation`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flask_frontdesk
import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_frontdesk import blueprints
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Text, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SAMPLES = Path(__file__).with_name("samples")
SOURCES = {
    "auth0": ("auth0.jsonl",),
    "cognito": ("cognito.json",),
    "firebase": ("firebase.json", "firebase_hash_config.txt"),
    "keycloak": ("keycloak.json",),
}


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    id: Mapped[str] = mapped_column(Text, primary_key=True)


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()


def run(script: str, *files: Path | str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, f"{script}.py", *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def convert(script: str) -> list[dict[str, Any]]:
    """Return the accounts that the script writes for its sample."""
    done = run(script, *(SAMPLES / name for name in SOURCES[script]))
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = "a key of the test, which is long enough"
    app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{tmp_path / 'import.db'}"
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    with app.app_context():
        db.create_all()
        yield app


def sign_in(client: FlaskClient, email: str, password: str) -> int:
    return client.post("/api/login", data={"username": email, "password": password}).status_code


@pytest.mark.parametrize("script", SOURCES)
def test_all_written_accounts_are_imported(script: str, app: Flask, tmp_path: Path) -> None:
    accounts = convert(script)
    file = tmp_path / "accounts.jsonl"
    file.write_text("\n".join(map(json.dumps, accounts)))
    done = app.test_cli_runner().invoke(args=["accounts", "import", str(file)])
    assert done.exit_code == 0, done.output
    stored = {each.id: each for each in db.session.scalars(select(Account))}
    assert {each["id"]: each["email"] for each in accounts} == {
        key: account.email for key, account in stored.items()
    }
    assert [stored[each["id"]].status for each in accounts] == [each["status"] for each in accounts]


def test_password_of_firebase_is_kept(app: Flask, tmp_path: Path) -> None:
    file = tmp_path / "accounts.jsonl"
    file.write_text("\n".join(map(json.dumps, convert("firebase"))))
    app.test_cli_runner().invoke(args=["accounts", "import", str(file)])
    client = app.test_client()
    assert sign_in(client, "ada@example.com", "wrong") == 400
    assert sign_in(client, "ada@example.com", "user1password") == 200


@pytest.mark.parametrize("script", SOURCES)
def test_verified_active_account_is_written(script: str) -> None:
    ada = convert(script)[0]
    assert (ada["email"], ada["email_verified"], ada["status"]) == (
        "ada@example.com",
        True,
        "active",
    )
    assert ("password_hash" in ada) == (script != "cognito")


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("auth0", "active"),
        ("cognito", "suspended"),
        ("firebase", "suspended"),
        ("keycloak", "inactive"),
    ],
)
def test_unverified_account_and_its_status_are_written(script: str, status: str) -> None:
    bob = convert(script)[1]
    assert (bob["email"], bob["email_verified"]) == ("bob@example.com", False)
    assert (bob["status"], bob.get("role", "user")) == (status, "user")


@pytest.mark.parametrize(
    ("script", "key"),
    [
        ("auth0", "auth0|60425da93519d90068f82966"),
        ("cognito", "a6f9d3f2-6c7b-4e50-9b1d-1f0c2a3b4c5d"),
        ("firebase", "JVEyvAWYrPZvd1FpVVNTvxYgq3C2"),
        ("keycloak", "a6f9d3f2-6c7b-4e50-9b1d-1f0c2a3b4c5d"),
    ],
)
def test_id_is_written(script: str, key: str) -> None:
    assert convert(script)[0]["id"] == key


@pytest.mark.parametrize("script", ["cognito", "firebase", "keycloak"])
def test_google_identity_is_written(script: str) -> None:
    google = {"issuer": "https://accounts.google.com", "subject": "1035479915"}
    assert convert(script)[0]["identities"] == [google]


def test_auth0_identities_ids_and_names_are_written() -> None:
    _, bob, cyd = convert("auth0")
    assert [each["subject"] for each in cyd["identities"]] == ["103547991597142817347"]
    assert (bob["id"], cyd["status"]) == ("auth0|euclid", "suspended")
    assert cyd["profile"] == {"first_name": "Cyd", "last_name": "Lee"}


def test_times_in_milliseconds_are_written_as_iso_8601() -> None:
    assert convert("firebase")[0]["last_login_date"] == "2024-03-01T00:00:00+00:00"
    assert convert("keycloak")[0]["created_at"] == "2024-01-01T00:00:00+00:00"


def test_keycloak_credentials_and_roles_are_converted() -> None:
    ada, bob = convert("keycloak")
    assert ada["role"] == "admin"
    assert ada["password_hash"].startswith("$pbkdf2-sha256$27500$c2FsdHNhbHRzYWx0c2FsdA$")
    assert bob["password_hash"].startswith("$argon2id$v=19$m=7168,t=5,p=1$")


def test_user_with_an_unknown_credential_is_named_and_left_out(tmp_path: Path) -> None:
    credential = {"type": "password", "secretData": "{}", "credentialData": "{}"}
    realm = {"users": [{"email": "ada@example.com", "credentials": [credential]}]}
    (tmp_path / "realm.json").write_text(json.dumps(realm))
    done = run("keycloak", tmp_path / "realm.json")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "User 1 is not written: the format of the credential is unknown\n"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("base64_signer_key: AAAA, rounds: 8", "base64_salt_separator, mem_cost"),
        ("base64_signer_key: A, base64_salt_separator: A, rounds: x, mem_cost: 14", "integers"),
    ],
)
def test_wrong_hash_parameters_are_one_sentence(config: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "config.txt").write_text(config)
    done = run("firebase", SAMPLES / "firebase.json", tmp_path / "config.txt")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
