"""Codes by mail and step-up in somebody else's application, whose accounts have ids of every
kind."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from marshmallow import fields

from app import Frontdesk, RegistrationCreate, Schemas, SetupError, blueprints
from app.auth.settings import AuthSettings
from app.testing.client import Api
from app.testing.kit import Kit
from app.testing.people import PASSWORD

from ..extension.test_account_ids import KINDS, account_model, with_tables
from ..registration.visitors import code_in
from ..rigs.hosts import HostSettings

NEW = "new@example.com"


class Settings(HostSettings):
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, LOGIN_BY_CODE="on", REGISTRATION="open", SESSIONS="on")


class Reader(RegistrationCreate):
    card = fields.String(required=True)


def host_with(kind: str, **given: Any) -> Flask:
    """With a session that forgets at each commit what it has read, as Flask-SQLAlchemy makes it."""
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    model = account_model(db, kind)
    Frontdesk().init_app(host, db, settings=Settings(), account_model=model, **given)
    host.register_blueprint(blueprints.auth, url_prefix="/desk")
    host.register_blueprint(blueprints.login_codes, url_prefix="/desk")
    return with_tables(host)


@pytest.fixture(params=KINDS)
def app(request: pytest.FixtureRequest) -> Flask:
    return host_with(request.param)


def proof(frontdesk: Kit, api: Api, email: str) -> dict[str, str]:
    login_id = api.post("/login/code", 202, json={"email": email}).json["login_id"]
    return {"login_id": login_id, "code": code_in(frontdesk.mails.last(email).text)}


def test_a_code_signs_in_signs_up_and_shows_who_one_is(app: Flask, frontdesk: Kit) -> None:
    api = Api(app, "/desk")
    frontdesk.account("ada")
    for email in ("ada@example.com", NEW):
        answer = api.post("/login/code/verify", json=proof(frontdesk, api, email)).json
        here = api.as_token(answer["access_token"])
        assert here.get("/account").json["email"] == email
        again = here.post("/reauthenticate", json=proof(frontdesk, here, email)).json
        here.as_token(again["access_token"]).get("/account")
    here.post("/reauthenticate", 400, json={"password": PASSWORD})


def test_where_registration_asks_for_more_a_code_makes_no_account(frontdesk_twins: object) -> None:
    app = host_with("integer", schemas=Schemas(registration=Reader))
    frontdesk = Kit(app, frontdesk_twins)  # type: ignore[arg-type]
    api = Api(app, "/desk")
    api.post("/login/code", 202, json={"email": NEW})
    frontdesk.mails.assert_sent(NEW, "no account")


def test_where_they_are_off_the_blueprint_is_refused_at_the_start() -> None:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    model = account_model(db, "integer")
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=model)
    with pytest.raises(SetupError, match=r"switch AUTH\.LOGIN_BY_CODE on"):
        host.register_blueprint(blueprints.login_codes)
