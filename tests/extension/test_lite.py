"""Flask-SQLAlchemy-Lite: the application's base class is separate from the database object."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bcrypt
import pytest
from flask import Flask
from flask_sqlalchemy_lite import SQLAlchemy
from sqlalchemy import URL, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Session, sessionmaker

from app import AccountMixin, Frontdesk, SetupError, blueprints
from app.testing.client import Api
from app.testing.database import rolled_back
from app.testing.people import PASSWORD, make_person

from ..rigs.backends import postgres_database
from ..rigs.cases import for_each
from ..rigs.hosts import HostSettings


class Base(DeclarativeBase):
    pass


class Account(AccountMixin, Base):
    __tablename__ = "people"


def host_at(url: str | URL, **options: Any) -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_ENGINES"] = {"default": url}
    db = SQLAlchemy(host)
    Frontdesk().init_app(host, db, settings=HostSettings(), **options)
    return host


@pytest.fixture(params=["sqlite", "postgresql"])
def host(request: pytest.FixtureRequest) -> Iterator[Flask]:
    if request.param == "sqlite":
        yield add_blueprints_and_tables(host_at("sqlite://", account_model=Account))
        return
    with postgres_database(f"frontdesk_lite_{os.getpid()}") as url:
        host = add_blueprints_and_tables(host_at(url, account_model=Account))
        yield host
        with host.app_context():
            database_of(host).engine.dispose()


def add_blueprints_and_tables(host: Flask) -> Flask:
    host.register_blueprint(blueprints.auth, url_prefix="/in")
    host.register_blueprint(blueprints.profiles, url_prefix="/in/profiles")
    host.register_blueprint(blueprints.notifications, url_prefix="/in/post")
    host.register_blueprint(blueprints.admin_notifications, url_prefix="/in/mailings")
    with host.app_context():
        Base.metadata.create_all(database_of(host).engine)
    return host


def database_of(host: Flask) -> SQLAlchemy:
    db: SQLAlchemy = host.extensions["sqlalchemy"]
    return db


def accounts_in(host: Flask) -> int:
    with host.app_context():
        return database_of(host).session.scalar(select(func.count()).select_from(Account)) or 0


def test_accounts_are_in_the_applications_table(host: Flask) -> None:
    ada = make_person(host, "ada")
    assert ada.api().get("/in/account").json["email"] == ada.email
    assert accounts_in(host) == 1


def test_write_is_visible_in_the_next_request(host: Flask) -> None:
    root = make_person(host, "root", role="root").api()
    body = {"data": {"title": "Hello", "message": "x", "channels": ["inapp"]}}
    root.post("/in/mailings", 201, json=body)
    [item] = root.get("/in/post").json
    assert item["title"] == "Hello"
    root.delete(f"/in/post/{item['id']}")
    assert root.get("/in/post").json == []


def test_rolled_back_undoes_a_test(host: Flask) -> None:
    with rolled_back(host):
        make_person(host, "ada").api().get("/in/account")
        assert accounts_in(host) == 1
    assert accounts_in(host) == 0


def test_missing_account_model_is_rejected() -> None:
    with pytest.raises(SetupError, match="Flask-SQLAlchemy-Lite has no metadata: pass account_mod"):
        host_at("sqlite://")


def test_application_can_also_use_another_sessionmaker(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'own.db'}")
    own_session = sessionmaker(engine)
    Base.metadata.create_all(engine)
    with own_session() as session, session.begin():
        hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
        session.add(Account(email="ada@example.com", password_hash=hashed))
    host = add_blueprints_and_tables(host_at(engine.url, account_model=Account))
    form = {"username": "ada@example.com", "password": PASSWORD}
    token = Api(host, "/in").post("/login", data=form).json["access_token"]
    Api(host, "/in", token=token).patch("/account", json={"phone": "+41446681800"})
    with own_session() as session:
        assert session.scalar(select(Account.phone)) == "+41446681800"
    engine.dispose()


@for_each("given", [sessionmaker(), create_engine("sqlite://"), Session()])
def test_unknown_database_object_is_rejected_with_the_fix(given: Any) -> None:
    with pytest.raises(SetupError) as error:
        Frontdesk().init_app(Flask("host"), given)
    assert str(error.value).startswith(
        "frontdesk.init_app takes the SQLAlchemy object of Flask-SQLAlchemy or"
        f" Flask-SQLAlchemy-Lite, not {type(given).__name__}."
    )
    assert '{"default": engine.url}' in str(error.value)
