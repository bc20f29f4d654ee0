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


def create_old_tables(module: ModuleType, url: str) -> None:
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
            for kind, migrations_folder in kinds.items():
                statement = statement.replace(kind, migrations_folder)
            connection.exec_driver_sql(statement)
    engine.dispose()


def migrated_app(module: ModuleType, url: str, migrations: Path) -> Flask:
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
def migrations_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("migrations")


@pytest.fixture
def app(module: ModuleType, url: str, migrations_folder: Path) -> Iterator[Flask]:
    create_old_tables(module, url)
    made = migrated_app(module, url, migrations_folder / module.__name__)
    yield made
    with made.app_context():
        module.db.engine.dispose()


def ada(app: Flask, password: str = PASSWORD) -> Person:
    return Person(app, None, "ada@example.com", password)


def test_users_sign_in_with_their_old_passwords(
    frontdesk: Kit, app: Flask, module: ModuleType
) -> None:
    for _ in range(2):  # with the existing hash, and with the new one
        shown = ada(app).api().get("/api/account").json
        assert shown.items() >= {**SHOWN[module], "email": "ada@example.com"}.items()
    form = {"username": "bob@example.com", "password": PASSWORD}
    frontdesk.api().post("/api/login", 400, data=form)


def test_users_reset_their_passwords(frontdesk: Kit, app: Flask) -> None:
    frontdesk.api().post("/api/password-recovery", json={"email": "ADA@example.com"})
    new = {"token": frontdesk.last_reset_token("ada@example.com"), "new_password": NEW_PASSWORD}
    frontdesk.api().post("/api/reset-password", json=new)
    frontdesk.api().post("/api/reset-password", 400, json=new)
    ada(app, NEW_PASSWORD).api().get("/api/account")


def test_logout_revokes_the_token(frontdesk: Kit, app: Flask) -> None:
    api = ada(app).api()
    api.delete("/api/logout")
    api.get("/api/account", 401)


def test_accounts_are_created_changed_and_deleted(
    frontdesk: Kit, app: Flask, module: ModuleType
) -> None:
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


class BothApplications:
    """The old application and the new one, on one database."""

    def __init__(self, url: str, migrations: Path) -> None:
        before = old.create_app(url)
        with before.app_context():
            old.db.create_all()
        self.old: FlaskClient = before.test_client()
        self.register("Ada@example.com")
        self.app = migrated_app(login_user, url, migrations)

    def register(self, mail: str) -> None:
        self.old.post("/join", data={"mail": mail, "password": PASSWORD})

    def signs_in_to_old(self, mail: str, password: str) -> bool:
        form = {"mail": mail, "password": password}
        return self.old.post("/sign-in", data=form).status_code == 200

    def signs_in_to_new(self, mail: str, password: str) -> bool:
        form = {"username": mail, "password": password}
        return self.app.test_client().post("/api/login", data=form).status_code == 200


@pytest.fixture
def both(url: str, migrations_folder: Path) -> Iterator[BothApplications]:
    if url.startswith("postgresql"):
        create_old_tables(login_user, url)
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE users"))
        engine.dispose()
    made = BothApplications(url, migrations_folder / "both")
    yield made
    with made.app.app_context():
        login_user.db.engine.dispose()


def test_both_applications_have_the_same_users(both: BothApplications) -> None:
    for _ in range(2):
        assert both.signs_in_to_new("ada@example.com", PASSWORD)
        assert both.signs_in_to_old("Ada@example.com", PASSWORD)
    both.register("eve@example.com")
    assert both.signs_in_to_new("eve@example.com", PASSWORD)


def test_a_password_changed_by_the_old_application_works_in_the_new_one(
    both: BothApplications,
) -> None:
    assert both.signs_in_to_new("ada@example.com", PASSWORD)
    assert both.signs_in_to_old("Ada@example.com", PASSWORD)
    both.old.post("/password", data={"password": NEW_PASSWORD})
    assert not both.signs_in_to_new("ada@example.com", PASSWORD)
    assert both.signs_in_to_new("ada@example.com", NEW_PASSWORD)


def test_a_password_set_by_the_new_application_ends_the_old_one(
    both: BothApplications, frontdesk_fakes: Any
) -> None:
    kit = Kit(both.app, frontdesk_fakes)
    kit.api().post("/api/password-recovery", json={"email": "ada@example.com"})
    new = {"token": kit.last_reset_token("ada@example.com"), "new_password": NEW_PASSWORD}
    kit.api().post("/api/reset-password", json=new)
    assert both.signs_in_to_new("ada@example.com", NEW_PASSWORD)
    assert not both.signs_in_to_old("Ada@example.com", PASSWORD)


def test_an_inactive_account_is_rejected_by_both_applications(both: BothApplications) -> None:
    command = ["accounts", "set", "ada@example.com", "--status", "inactive"]
    assert both.app.test_cli_runner().invoke(args=command).exit_code == 0
    assert not both.signs_in_to_new("ada@example.com", PASSWORD)
    assert not both.signs_in_to_old("Ada@example.com", PASSWORD)
