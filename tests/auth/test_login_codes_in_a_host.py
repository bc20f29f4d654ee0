"""One-time codes and step-up in an application with its own account model, for each supported
type of account ID."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from marshmallow import fields
from sqlalchemy.orm import Mapped, mapped_column

from app import AccountMixin, Frontdesk, RegistrationCreate, Schemas, SetupError, blueprints
from app.auth.settings import AuthSettings
from app.testing.client import Api
from app.testing.kit import Kit
from app.testing.people import PASSWORD

from ..extension.test_account_ids import ID_TYPES, account_model, with_tables
from ..registration.visitors import code_in
from ..rigs.hosts import HostSettings

NEW = "new@example.com"


class Settings(HostSettings):
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, LOGIN_BY_CODE="on", REGISTRATION="open", SESSIONS="on")


class CardRegistration(RegistrationCreate):
    card = fields.String(required=True)


def make_host(kind: str, **options: Any) -> Flask:
    """Return an application with a session that expires objects on commit, as by default."""
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    model = account_model(db, kind)
    Frontdesk().init_app(host, db, settings=Settings(), account_model=model, **options)
    host.register_blueprint(blueprints.auth, url_prefix="/desk")
    host.register_blueprint(blueprints.login_codes, url_prefix="/desk")
    return with_tables(host)


@pytest.fixture(params=ID_TYPES)
def app(request: pytest.FixtureRequest) -> Flask:
    return make_host(request.param)


def proof(frontdesk: Kit, api: Api, email: str) -> dict[str, str]:
    login_id = api.post("/login/code", 202, json={"email": email}).json["login_id"]
    return {"login_id": login_id, "code": code_in(frontdesk.mails.last(email).text)}


def test_code_signs_in_signs_up_and_reauthenticates(app: Flask, frontdesk: Kit) -> None:
    api = Api(app, "/desk")
    frontdesk.account("ada")
    for email in ("ada@example.com", NEW):
        answer = api.post("/login/code/verify", json=proof(frontdesk, api, email)).json
        here = api.as_token(answer["access_token"])
        assert here.get("/account").json["email"] == email
        again = here.post("/reauthenticate", json=proof(frontdesk, here, email)).json
        here.as_token(again["access_token"]).get("/account")
    here.post("/reauthenticate", 400, json={"password": PASSWORD})


def test_code_creates_no_account_where_registration_has_required_fields(
    frontdesk_fakes: object,
) -> None:
    app = make_host("integer", schemas=Schemas(registration=CardRegistration))
    frontdesk = Kit(app, frontdesk_fakes)  # type: ignore[arg-type]
    api = Api(app, "/desk")
    api.post("/login/code", 202, json={"email": NEW})
    frontdesk.mails.assert_sent(NEW, "no account")


def test_required_column_without_a_value_is_named_in_the_log(
    frontdesk_fakes: object, caplog: pytest.LogCaptureFixture
) -> None:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    members = {"card": mapped_column(), "__annotations__": {"card": Mapped[str]}}
    model = type("Reader", (AccountMixin, db.Model), members)
    Frontdesk().init_app(host, db, settings=Settings(), account_model=model)
    host.register_blueprint(blueprints.auth, url_prefix="/desk")
    host.register_blueprint(blueprints.login_codes, url_prefix="/desk")
    app = with_tables(host)
    api = Api(app, "/desk")
    given = proof(Kit(app, frontdesk_fakes), api, NEW)  # type: ignore[arg-type]
    answer = api.post("/login/code/verify", 403, json=given)
    assert (answer.json["code"], "errors" in answer.json) == ("sign_up_needed", False)
    assert "requires a value in the column card" in caplog.text


def test_disabled_blueprint_cannot_be_mounted() -> None:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    model = account_model(db, "integer")
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=model)
    with pytest.raises(SetupError, match=r"set AUTH\.LOGIN_BY_CODE to `on`"):
        host.register_blueprint(blueprints.login_codes)
