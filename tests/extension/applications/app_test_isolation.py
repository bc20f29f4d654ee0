"""How applications isolate their tests: rolled_back, a replaced engine, a replaced
session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import func, select
from sqlalchemy.orm import Mapped, mapped_column, scoped_session, sessionmaker

from app import AccountMixin, AuthSettings, CoreSettings, Frontdesk
from app.blueprints import auth, tasks
from app.testing.database import rolled_back
from app.testing.kit import Kit
from app.testing.people import Person

from ...rigs.backends import postgres_database

db = SQLAlchemy()


class Account(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    pass


class Event(db.Model):  # type: ignore[misc, name-defined]
    __bind_key__ = "events"

    id: Mapped[int] = mapped_column(primary_key=True)
    note: Mapped[str]


class Settings:
    SECRET_KEY = "a key of the host's own, long enough for it"
    CORE = CoreSettings(LOG_LEVEL="ERROR")
    AUTH = AuthSettings(BCRYPT_ROUNDS=4)


@pytest.fixture(scope="module", params=["memory", "file", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("databases")
    if request.param != "postgresql":
        yield "sqlite://" if request.param == "memory" else f"sqlite:///{folder / 'host.db'}"
        return
    with postgres_database(f"frontdesk_recipes_{os.getpid()}") as account:
        yield account


@pytest.fixture(scope="module")
def host(url: str) -> Iterator[Flask]:
    host = Flask("host")
    host.config.update(SQLALCHEMY_DATABASE_URI=url, SQLALCHEMY_BINDS={"events": "sqlite://"})
    db.init_app(host)
    frontdesk = Frontdesk()

    @frontdesk.on("account-registered")
    def note(account: Any, options: dict[str, Any]) -> None:
        if account.phone is None:
            options["session"].add(Event(note=account.email))

    frontdesk.init_app(host, db, settings=Settings, account_model=Account)
    host.register_blueprint(auth, url_prefix="/in")
    host.register_blueprint(tasks, url_prefix="/tasks")
    with host.app_context():
        db.create_all()
    yield host
    with host.app_context():
        for engine in db.engines.values():
            engine.dispose()


@pytest.fixture
def app(host: Flask) -> Flask:
    return host


def count(host: Flask, model: Any) -> int:
    with host.app_context():
        return db.session.scalar(select(func.count()).select_from(model)) or 0


def use_frontdesk(ada: Person) -> None:
    """Sign in, use the token, write, and fail inside a transaction."""
    api = ada.api()
    assert api.get("/in/account").json["email"] == ada.email
    task = api.post("/tasks/", 201, json={"title": "x"}).json
    api.delete("/tasks/999999", 404)
    assert api.get("/tasks/").json == [task]
    api.delete(f"/tasks/{task['id']}")


def test_rolled_back_undoes_all_writes(host: Flask, frontdesk: Kit) -> None:
    for _ in range(2):
        with rolled_back(host):
            use_frontdesk(frontdesk.account("ada"))
            assert count(host, Event) == 1
        assert count(host, Account) == count(host, Event) == 0


def test_rollback_of_a_replaced_engine_undoes_all_writes(
    host: Flask, frontdesk: Kit, url: str
) -> None:
    """The recipe of Flask-SQLAlchemy's author. SQLite would additionally need an explicit BEGIN."""
    if url.startswith("sqlite"):
        return
    with host.app_context():
        engines: Any = db.engines
    engine = engines[None]
    connection = engine.connect()
    outer = connection.begin()
    engines[None] = connection
    try:
        ada = frontdesk.account("ada")
        assert ada.api().get("/in/account").json["email"] == ada.email
        ada.api().post("/tasks/", 201, json={"title": "x"})
    finally:
        outer.rollback()
        connection.close()
        engines[None] = engine
    assert count(host, Account) == 0


def test_replaced_session_is_used(host: Flask, frontdesk: Kit) -> None:
    """A common recipe: one session for each test, on its own connection."""
    with host.app_context():
        engine = db.engines[None]
    original = db.session
    with engine.connect() as connection:
        factory: Any = sessionmaker(bind=connection, join_transaction_mode="create_savepoint")
        db.session = scoped_session(factory)
        try:
            ada = frontdesk.account("ada", phone="+15550100")
            account = db.session.scalars(select(Account)).one()
            assert (account.email, account.phone) == (ada.email, "+15550100")
            assert ada.api().get("/in/account").json["phone"] == "+15550100"
            db.session.remove()
        finally:
            db.session = original
    with host.app_context():
        db.session.execute(Account.__table__.delete())
        db.session.commit()
