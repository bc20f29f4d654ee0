"""An application with one blueprint imports the features that it uses, and can use the others."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.core.db.base import Base
from app.core.db.tables import WHEN_MOUNTED
from app.extension.tables import TABLES, WORK_TABLES, import_models

from ..rigs.backends import postgres_database
from ..rigs.installed import run
from ..rigs.servers import ROOT

_APPLICATION = """
import json, sys
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase
import app as flask_frontdesk
from app import blueprints

class Base(DeclarativeBase):
    pass

class Account(flask_frontdesk.AccountMixin, Base):
    pass

host = Flask("host")
host.config.update(SQLALCHEMY_DATABASE_URI="sqlite:///{database}", SECRET_KEY="k" * 40)
db = SQLAlchemy(host, model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()
{before}
frontdesk.init_app(host, db, account_model=Account)
host.register_blueprint(blueprints.auth, url_prefix="/api")
with host.app_context():
    db.create_all()
{after}
"""
_SIGN_IN = """
    frontdesk.accounts.create("ada@example.com", "correct horse battery")
form = {"username": "ada@example.com", "password": "correct horse battery"}
answer = host.test_client().post("/api/login", data=form)
assert answer.status_code == 200, answer.text
"""
# What only applications with other blueprints or settings need.
UNUSED = (
    "accounts.search",
    "administration",
    "audit.service",
    "auth.idp.assembly",
    "auth.idp.provider_models",
    "auth.idp.provider_settings",
    "auth.mfa.assembly",
    "auth.sessions.assembly",
    "broadcasts.assembly",
    "console",
    "deletion.service",
    "delivery.channel",
    "delivery.outbox.enqueue",
    "delivery.sms",
    "delivery.worker.celery",
    "delivery.worker.worker",
    "doctor",
    "exports.service",
    "health",
    "monitoring",
    "notifications.service",
    "profiles.service",
    "registration",
    "storage",
    "workspaces.service",
)


@pytest.fixture
def program(tmp_path: Path) -> Any:
    def start(after: str, before: str = "") -> Any:
        text = _APPLICATION.replace("{database}", str(tmp_path / "host.db"))
        code = text.replace("{before}", before).replace("{after}", after)
        output = run("-c", code, cwd=tmp_path, PYTHONPATH=str(ROOT))
        return json.loads(output.splitlines()[-1])

    return start


def tables(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / "host.db")) as database:
        rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {name for (name,) in rows if name.startswith("frontdesk_")}


def test_sign_in_does_not_import_what_it_does_not_need(program: Any) -> None:
    program("print(0)")
    imported = program(f"{_SIGN_IN}\nprint(json.dumps(sorted(sys.modules)))")
    assert "app.auth.assembly" in imported
    assert [each for each in UNUSED if f"app.{each}" in imported] == []
    assert not {"celery", "flask_mail", "twilio", "boto3", "alembic"}.intersection(imported)


def test_new_database_gets_the_tables_of_all_features(program: Any, tmp_path: Path) -> None:
    program("print(0)")
    assert tables(tmp_path) == TABLES


def test_new_database_gets_the_tables_of_all_features_on_postgresql(tmp_path: Path) -> None:
    """Unlike SQLite, PostgreSQL refuses a foreign key to a table that does not exist yet."""
    with postgres_database(f"frontdesk_smallest_{os.getpid()}") as url:
        text = _APPLICATION.replace("sqlite:///{database}", url).replace("{before}", "")
        after = "    print(json.dumps(inspect(db.engine).get_table_names()))"
        code = f"from sqlalchemy import inspect\n{text.replace('{after}', after)}"
        output = run("-c", code, cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert set(json.loads(output.splitlines()[-1])) == {"accounts", *TABLES}


def test_database_gets_the_tables_that_it_lacks(program: Any, tmp_path: Path) -> None:
    program("print(0)")
    with closing(sqlite3.connect(tmp_path / "host.db")) as database:
        database.execute("DROP TABLE frontdesk_inbox")
    program("print(0)")
    assert tables(tmp_path) == TABLES


def test_metadata_has_the_tables_of_all_features_where_migrations_can_be_generated(
    program: Any,
) -> None:
    names = program("print(json.dumps(sorted(db.metadata.tables)))", before="import flask_migrate")
    assert TABLES.issubset(names)
    assert TABLES.issubset(
        program("print(json.dumps([*host.extensions['frontdesk'].metadata.tables]))")
    )


@pytest.mark.parametrize(("sessions", "migrates"), [("on", False), ("off", True)])
def test_identity_providers_bring_their_tables(
    program: Any, tmp_path: Path, sessions: str, *, migrates: bool
) -> None:
    """No other code has imported the workspaces, to which the table of grants refers."""
    acme = {
        "kind": "oidc",
        "client_id": "frontdesk",
        "metadata_url": "https://idp.example.com/.well-known/openid-configuration",
    }
    auth = {"PROVIDERS": {"acme": acme}, "SESSIONS": sessions}
    before = f"host.config['FRONTDESK'] = {{'AUTH': {auth!r}}}"
    if migrates:
        before = f"import flask_migrate\n{before}"
    program(f"{_SIGN_IN}\nprint(0)", before)
    added = tables(tmp_path) - TABLES
    assert TABLES.issubset(tables(tmp_path))
    assert "frontdesk_provider_grants" in added
    assert ("frontdesk_provider_sessions" in added) is (sessions == "on")


def test_named_tables_are_those_of_the_models() -> None:
    import_models()
    shared = (each for each in Base.metadata.tables.values() if WHEN_MOUNTED not in each.info)
    assert {each.name for each in shared} == TABLES
    assert TABLES.issuperset(WORK_TABLES)


def test_notify_works_without_its_blueprint(program: Any) -> None:
    sent = """
    frontdesk.accounts.create("ada@example.com", "correct horse battery")
    frontdesk.notify("Hello", "World", channels=["inapp", "email"])
    rows = db.session.execute(db.text("SELECT count(*) FROM frontdesk_inbox")).scalar()
    queued = db.session.execute(db.text("SELECT count(*) FROM frontdesk_deliveries")).scalar()
    print(json.dumps([rows, queued]))
"""
    assert program(sent) == [1, 1]


def test_accounts_are_deleted_without_the_other_blueprints(program: Any) -> None:
    before = """
erased = []
frontdesk.eraser(lambda account, session: erased.append(account.email))
"""
    deleted = """
    account = frontdesk.accounts.create("ada@example.com", "correct horse battery")
    frontdesk.accounts.delete(account)
    print(json.dumps([frontdesk.accounts.find("ada@example.com"), erased]))
"""
    assert program(deleted, before) == [None, ["ada@example.com"]]


def test_workspaces_are_used_without_their_blueprint(program: Any) -> None:
    after = f"{_SIGN_IN}\nprint(json.dumps([each['slug'] for each in answer.json['workspaces']]))"
    assert program(after, "frontdesk.use_workspaces()") == ["ada"]


def test_start_collects_no_garbage_and_leaves_the_collector_on(program: Any) -> None:
    count = """
import gc, traceback
collections = []
gc.callbacks.append(lambda *_: collections.extend(
    each.filename for each in traceback.extract_stack()
    if each.name == "init_app" and each.filename.endswith("extension/frontdesk.py")
))
"""
    result = "print(json.dumps([len(collections), gc.isenabled()]))"
    assert program(result, before=count) == [0, True]
    assert program(result, before=f"{count}\ngc.disable()") == [0, False]
