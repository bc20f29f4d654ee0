"""Existing users sign in after one migration, which only adds columns and tables."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from secrets import token_urlsafe
from types import ModuleType
from typing import Any

import bcrypt
import fastapi_user
import flask_migrate
import login_user
import old
import pytest
import security_user
from flask import Flask
from flask.testing import FlaskClient
from flask_frontdesk.testing import Kit, Person
from sqlalchemy import create_engine, text

PASSWORD, NEW_PASSWORD = token_urlsafe(), token_urlsafe()
HASH = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
ADA = "a5f5f2f2-5b8e-4f5e-9a55-0d2f6a3b7c11"

# The existing tables with two users, the second of whom is inactive.
BEFORE: dict[ModuleType, list[str]] = {
    security_user: [
        "CREATE TABLE role (id {serial} NOT NULL, name VARCHAR(80) NOT NULL, PRIMARY KEY (id),"
        " UNIQUE (name))",
        'CREATE TABLE "user" (id {serial} NOT NULL, email VARCHAR(255) NOT NULL,'
        " password VARCHAR(255), active BOOLEAN NOT NULL, fs_uniquifier VARCHAR(64) NOT NULL,"
        " create_datetime {datetime} DEFAULT CURRENT_TIMESTAMP NOT NULL,"
        " us_phone_number VARCHAR(128),"
        " PRIMARY KEY (id), UNIQUE (email), UNIQUE (fs_uniquifier))",
        "CREATE TABLE roles_users (user_id INTEGER, role_id INTEGER,"
        ' FOREIGN KEY(user_id) REFERENCES "user" (id), FOREIGN KEY(role_id) REFERENCES role (id))',
        "INSERT INTO role (name) VALUES ('admin')",
        'INSERT INTO "user" (id, email, password, active, fs_uniquifier) VALUES'
        f" (7, 'Ada@example.com', '{HASH}', true, 'x'),"
        f" (8, 'bob@example.com', '{HASH}', false, 'y')",
        "INSERT INTO roles_users VALUES (7, 1)",
    ],
    fastapi_user: [
        'CREATE TABLE "user" (id {uuid} NOT NULL, email VARCHAR(320) NOT NULL,'
        " hashed_password VARCHAR(1024) NOT NULL, is_active BOOLEAN NOT NULL,"
        " is_superuser BOOLEAN NOT NULL, is_verified BOOLEAN NOT NULL,"
        " PRIMARY KEY (id), UNIQUE (email))",
        'INSERT INTO "user" VALUES'
        f" ('{ADA}', 'Ada@example.com', '{HASH}', true, true, true),"
        f" ('{ADA[:-1]}2', 'bob@example.com', '{HASH}', false, false, true)",
    ],
    login_user: [
        "CREATE TABLE users (id {serial} NOT NULL, mail VARCHAR NOT NULL, pw VARCHAR NOT NULL,"
        " active BOOLEAN NOT NULL, admin BOOLEAN NOT NULL, PRIMARY KEY (id), UNIQUE (mail))",
        "INSERT INTO users (mail, pw, active, admin) VALUES"
        f" ('Ada@example.com', '{HASH}', true, true), ('bob@example.com', '{HASH}', false, false)",
    ],
}
SHOWN: dict[ModuleType, dict[str, Any]] = {
    security_user: {"id": 7, "role": "admin"},
    fastapi_user: {"id": ADA, "role": "root"},
    login_user: {"id": 1, "role": "admin"},
}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return os.environ.get("TEST_DATABASE_URL") or f"sqlite:///{tmp_path / 'existing.db'}"


def there_before(module: ModuleType, url: str) -> None:
    engine = create_engine(url)
    is_postgres = engine.dialect.name == "postgresql"
    kinds = {
        "{uuid}": "UUID" if is_postgres else "CHAR(36)",
        "{serial}": "SERIAL" if is_postgres else "INTEGER",
        "{datetime}": "TIMESTAMP" if is_postgres else "DATETIME",
    }
    with engine.begin() as connection:
        if is_postgres:
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        for statement in BEFORE[module]:
            for kind, written in kinds.items():
                statement = statement.replace(kind, written)
            connection.exec_driver_sql(statement)
    engine.dispose()


def migrated(module: ModuleType, url: str, migrations: Path) -> Flask:
    """Return the migrated application. The first call writes the migration, later ones use it."""
    app: Flask = module.create_app(url)
    with app.app_context():
        if not migrations.exists():
            write_migration(migrations)
        flask_migrate.upgrade(str(migrations))
    return app


def write_migration(migrations: Path) -> None:
    flask_migrate.init(str(migrations))
    flask_migrate.migrate(str(migrations))
    [migration] = (migrations / "versions").glob("*.py")
    upgrade, _, _ = migration.read_text().partition("def downgrade")
    assert "drop" not in upgrade, upgrade
    assert "alter_column" not in upgrade, upgrade


@pytest.fixture(params=BEFORE, ids=lambda module: module.__name__)
def module(request: pytest.FixtureRequest) -> ModuleType:
    found: ModuleType = request.param
    return found


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("migrations")


@pytest.fixture
def app(module: ModuleType, url: str, written: Path) -> Iterator[Flask]:
    there_before(module, url)
    made = migrated(module, url, written / module.__name__)
    yield made
    with made.app_context():
        module.db.engine.dispose()


def ada(app: Flask, password: str = PASSWORD) -> Person:
    return Person(app, None, "ada@example.com", password)


def test_they_sign_in_with_what_they_had(frontdesk: Kit, app: Flask, module: ModuleType) -> None:
    for _ in range(2):  # with the existing hash, and with the new one
        shown = ada(app).api().get("/api/account").json
        assert shown.items() >= {**SHOWN[module], "email": "ada@example.com"}.items()
    form = {"username": "bob@example.com", "password": PASSWORD}
    frontdesk.api().post("/api/login", 400, data=form)


def test_what_they_forgot_they_set_anew(frontdesk: Kit, app: Flask) -> None:
    frontdesk.api().post("/api/password-recovery", json={"email": "ADA@example.com"})
    new = {"token": frontdesk.last_reset_token("ada@example.com"), "new_password": NEW_PASSWORD}
    frontdesk.api().post("/api/reset-password", json=new)
    frontdesk.api().post("/api/reset-password", 400, json=new)
    ada(app, NEW_PASSWORD).api().get("/api/account")


def test_who_logs_out_is_out(frontdesk: Kit, app: Flask) -> None:
    api = ada(app).api()
    api.delete("/api/logout")
    api.get("/api/account", 401)


def test_new_ones_come_and_go(frontdesk: Kit, app: Flask, module: ModuleType) -> None:
    role = SHOWN[module]["role"]
    eve = frontdesk.account("eve", role=role)
    assert eve.api().get("/api/account").json["role"] == role
    run = app.test_cli_runner().invoke
    taken = run(args=["accounts", "create", "Eve@Example.com", f"--password={NEW_PASSWORD}"])
    assert "exists" in taken.output
    changed = run(args=["accounts", "set", eve.email, "--status", "inactive", "--role", "user"])
    shown = json.loads(changed.output)
    assert (shown["status"], shown["role"]) == ("inactive", "user")
    assert run(args=["accounts", "delete", eve.email]).exit_code == 0
    assert len(run(args=["accounts", "list"]).output.splitlines()) == 2


class Both:
    """The old application and the new one, on one database."""

    def __init__(self, url: str, migrations: Path) -> None:
        before = old.create_app(url)
        with before.app_context():
            old.db.create_all()
        self.old: FlaskClient = before.test_client()
        self.join("Ada@example.com")
        self.app = migrated(login_user, url, migrations)

    def join(self, mail: str) -> None:
        self.old.post("/join", data={"mail": mail, "password": PASSWORD})

    def old_lets_in(self, mail: str, password: str) -> bool:
        form = {"mail": mail, "password": password}
        return self.old.post("/sign-in", data=form).status_code == 200

    def new_lets_in(self, mail: str, password: str) -> bool:
        form = {"username": mail, "password": password}
        return self.app.test_client().post("/api/login", data=form).status_code == 200


@pytest.fixture
def both(url: str, written: Path) -> Iterator[Both]:
    if url.startswith("postgresql"):
        there_before(login_user, url)
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE users"))
        engine.dispose()
    made = Both(url, written / "both")
    yield made
    with made.app.app_context():
        login_user.db.engine.dispose()


def test_both_applications_serve_the_same_people(both: Both) -> None:
    for _ in range(2):
        assert both.new_lets_in("ada@example.com", PASSWORD)
        assert both.old_lets_in("Ada@example.com", PASSWORD)
    both.join("eve@example.com")
    assert both.new_lets_in("eve@example.com", PASSWORD)


def test_a_password_that_the_old_one_changes_counts_in_the_new_one(both: Both) -> None:
    assert both.new_lets_in("ada@example.com", PASSWORD)
    assert both.old_lets_in("Ada@example.com", PASSWORD)
    both.old.post("/password", data={"password": NEW_PASSWORD})
    assert not both.new_lets_in("ada@example.com", PASSWORD)
    assert both.new_lets_in("ada@example.com", NEW_PASSWORD)


def test_a_password_that_the_new_one_sets_ends_the_old_one(
    both: Both, frontdesk_fakes: Any
) -> None:
    kit = Kit(both.app, frontdesk_fakes)
    kit.api().post("/api/password-recovery", json={"email": "ada@example.com"})
    new = {"token": kit.last_reset_token("ada@example.com"), "new_password": NEW_PASSWORD}
    kit.api().post("/api/reset-password", json=new)
    assert both.new_lets_in("ada@example.com", NEW_PASSWORD)
    assert not both.old_lets_in("Ada@example.com", PASSWORD)


def test_whom_the_new_one_shuts_out_is_out_of_both(both: Both) -> None:
    command = ["accounts", "set", "ada@example.com", "--status", "inactive"]
    assert both.app.test_cli_runner().invoke(args=command).exit_code == 0
    assert not both.new_lets_in("ada@example.com", PASSWORD)
    assert not both.old_lets_in("Ada@example.com", PASSWORD)
