"""Second factors in somebody else's application, whose accounts have ids of every kind."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from app import Frontdesk, SetupError, blueprints
from app.auth.settings import AuthSettings
from app.testing.client import Api
from app.testing.kit import Kit
from app.testing.people import Person

from ..extension.test_account_ids import KINDS, account_model, with_tables, written
from ..rigs.hosts import HostSettings
from .factors import challenge, enrolled, finish


class Settings(HostSettings):
    AUTH = AuthSettings(
        BCRYPT_ROUNDS=4, MFA="optional", MFA_METHODS=["totp"], MFA_TRUST_DAYS=30, SESSIONS="on"
    )


@pytest.fixture(params=KINDS)
def app(request: pytest.FixtureRequest) -> Flask:
    """With a session that forgets at each commit what it has read, as Flask-SQLAlchemy makes it."""
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    Frontdesk().init_app(
        host, db, settings=Settings(), account_model=account_model(db, request.param)
    )
    host.register_blueprint(blueprints.auth, url_prefix="/desk")
    host.register_blueprint(blueprints.mfa, url_prefix="/desk/factors")
    return with_tables(host)


@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    return frontdesk.account("ada", prefix="/desk")


class Mounted(Api):
    """The blueprint is mounted under a prefix of the host's own."""

    def send(self, method: str, path: str, status: int, **request: Any) -> Any:
        ours = ("/login/mfa", "/authenticators", "/recovery-codes", "/trusted", "/admin")
        inner = f"/factors{path}" if path.startswith(ours) else path
        return super().send(method, inner, status, **request)

    def as_token(self, token: str | None) -> Mounted:
        return Mounted(self.app, self.prefix, token)


def test_the_whole_way(frontdesk: Kit, ada: Person) -> None:
    api: Any = Mounted(ada.app, "/desk")
    ada.api = lambda: Mounted(ada.app, "/desk", ada.token())  # type: ignore[method-assign]
    clock: Any = frontdesk.clock
    has = enrolled(ada, clock)
    assert len(has.recovery_codes) == 10
    answer = finish(api, challenge(api, ada), otp=has.phone.next_code(), trust=True).json
    form = {"username": ada.email, "password": ada.password}
    api.post("/login", data=form, headers={"X-Trusted-Device": answer["trusted_device"]})
    finish(api, challenge(api, ada), recovery_code=has.recovery_codes[0])
    here = api.as_token(answer["access_token"])
    assert here.get("/recovery-codes").json == {"left": 9}
    [mine] = here.get("/authenticators").json
    assert here.patch(f"/authenticators/{mine['id']}", json={"name": "Old"}).json["name"] == "Old"
    [device] = here.get("/trusted-devices").json
    assert here.delete(f"/trusted-devices/{device['id']}").json["id"] == device["id"]
    root = frontdesk.account("root", role="root", prefix="/desk")
    as_root = Mounted(root.app, "/desk", root.token())
    reset = as_root.delete(f"/admin/accounts/{written(ada)}/authenticators").json
    assert reset == {"authenticators": 1}
    here.get("/account", 401)
    api.post("/login", data=form)


def test_where_they_are_off_the_blueprint_is_refused_at_the_start() -> None:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    model = account_model(db, "integer")
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=model)
    with pytest.raises(SetupError, match="'mfa' cannot be mounted"):
        host.register_blueprint(blueprints.mfa)
