"""Sessions of accounts with ids of every type, in an application that mounts Frontdesk."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import text

from app import Frontdesk, SetupError, blueprints
from app.accounts.service import Accounts
from app.auth.settings import AuthSettings
from app.core.context import current_frontdesk, service
from app.testing.client import Api
from app.testing.people import PASSWORD, make_person

from ..conftest import close_connections
from ..rigs.backends import postgres_database
from ..rigs.hosts import HostSettings, host_with
from .test_account_ids import ID_TYPES, SCHEMA, account_model, with_tables


class Settings(HostSettings):
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, SESSIONS="on", REFRESH_TOKEN_DAYS=14)


def host_at(url: str, kind: str, schema: str | None = None) -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = url
    db = SQLAlchemy(host)
    Frontdesk().init_app(
        host, db, settings=Settings(), account_model=account_model(db, kind, schema)
    )
    host.register_blueprint(blueprints.auth)
    host.register_blueprint(blueprints.sessions, url_prefix="/where")
    return with_tables(host, schema)


@pytest.fixture(params=["sqlite", "postgresql"])
def host(request: pytest.FixtureRequest, kind: str) -> Iterator[Flask]:
    if request.param == "sqlite":
        yield host_at("sqlite://", kind)
        return
    with postgres_database(f"frontdesk_sessions_{os.getpid()}") as url:
        host = host_at(url, kind, SCHEMA)
        yield host
        close_connections(host)


@pytest.fixture(params=ID_TYPES)
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def test_sessions_are_started_listed_refreshed_and_ended(host: Flask) -> None:
    ada, bob = make_person(host, "ada"), make_person(host, "bob")
    form = {"username": ada.email, "password": PASSWORD}
    first = Api(host, "").post("/login", data=form, headers={"Prefer": "refresh"}).json
    here, there = Api(host, "", first["access_token"]), ada.api()
    newest, oldest = here.get("/where/sessions").json
    assert [newest["current"], oldest["current"]] == [False, True]
    assert here.delete(f"/where/sessions/{newest['id']}").json["id"] == newest["id"]
    there.get("/account", 401)
    grant = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    again = Api(host, "").post("/where/token", data=grant).json
    assert again["account"]["id"] == here.get("/account").json["id"]
    assert bob.api().delete("/where/sessions").json == {"ended": 1}
    assert here.delete("/where/sessions?others=true").json == {"ended": 0}


def test_sessions_are_deleted_with_their_account(host: Flask) -> None:
    ada = make_person(host, "ada")
    ada.token()
    with host.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get(ada.email))
        found = current_frontdesk.session.execute(text("SELECT id FROM frontdesk_sessions")).all()
        current_frontdesk.session.rollback()
    assert found == []


def test_mounting_sessions_without_the_setting_names_the_setting() -> None:
    with pytest.raises(SetupError, match="SESSIONS"):
        host_with((blueprints.auth, ""), (blueprints.sessions, ""))
