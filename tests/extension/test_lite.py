"""A host on Flask-SQLAlchemy-Lite: an object for engines and sessions, and a base of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy_lite import SQLAlchemy
from sqlalchemy import func, select
from sqlalchemy.orm import DeclarativeBase

from app import AccountMixin, Frontdesk, SetupError, blueprints
from app.testing.people import make_person
from app.testing.rollback import rolled_back

from ..rigs.backends import postgres_database
from ..rigs.hosts import HostSettings


class Base(DeclarativeBase):
    pass


class Account(AccountMixin, Base):
    __tablename__ = "people"


def host_at(url: str, **options: Any) -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_ENGINES"] = {"default": url}
    db = SQLAlchemy(host)
    Frontdesk().init_app(host, db, settings=HostSettings(), **options)
    return host


@pytest.fixture(params=["sqlite", "postgresql"])
def host(request: pytest.FixtureRequest) -> Iterator[Flask]:
    if request.param == "sqlite":
        yield complete(host_at("sqlite://", account_model=Account))
        return
    with postgres_database(f"frontdesk_lite_{os.getpid()}") as url:
        host = complete(host_at(url, account_model=Account))
        yield host
        with host.app_context():
            database_of(host).engine.dispose()


def complete(host: Flask) -> Flask:
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


def test_the_accounts_are_in_its_own_table(host: Flask) -> None:
    ada = make_person(host, "ada")
    assert ada.api().get("/in/account").json["email"] == ada.email
    assert accounts_in(host) == 1


def test_what_is_written_is_read_in_the_next_request(host: Flask) -> None:
    root = make_person(host, "root", role="root").api()
    body = {"data": {"title": "Hello", "message": "x", "channels": ["inapp"]}}
    root.post("/in/mailings", 201, json=body)
    [item] = root.get("/in/post").json
    assert item["title"] == "Hello"
    root.delete(f"/in/post/{item['id']}")
    assert root.get("/in/post").json == []


def test_a_test_of_the_hosts_may_be_rolled_back(host: Flask) -> None:
    with rolled_back(host):
        make_person(host, "ada").api().get("/in/account")
        assert accounts_in(host) == 1
    assert accounts_in(host) == 0


def test_without_an_account_model_it_does_not_know_where_tables_come() -> None:
    with pytest.raises(SetupError, match="Flask-SQLAlchemy-Lite knows no tables: pass account_mod"):
        host_at("sqlite://")
