"""MFA in an application with its own account model, for each supported type of account ID."""

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

from ..extension.test_account_ids import ID_TYPES, account_model, id_in_json, with_tables
from ..rigs.hosts import HostSettings
from .factors import challenge, enrolled, finish


class Settings(HostSettings):
    AUTH = AuthSettings(
        BCRYPT_ROUNDS=4, MFA="optional", MFA_METHODS=["totp"], MFA_TRUST_DAYS=30, SESSIONS="on"
    )


@pytest.fixture(params=ID_TYPES)
def app(request: pytest.FixtureRequest) -> Flask:
    """Return an application with a session that expires objects on commit, as by default."""
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    Frontdesk().init_app(
        host, db, settings=Settings(), account_model=account_model(db, request.param)
    )
    host.register_blueprint(blueprints.auth, url_prefix="/desk")
    host.register_blueprint(blueprints.mfa, url_prefix="/desk/factors")
    host.register_blueprint(blueprints.administration, url_prefix="/desk/admin/accounts")
    return with_tables(host)


@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    return frontdesk.account("ada", prefix="/desk")


class Mounted(Api):
    """A client of an application that mounts the MFA blueprint under a prefix."""

    def send(self, method: str, path: str, status: int, **request: Any) -> Any:
        mfa_paths = ("/login/mfa", "/authenticators", "/recovery-codes", "/trusted")
        mounted_path = f"/factors{path}" if path.startswith(mfa_paths) else path
        return super().send(method, mounted_path, status, **request)

    def as_token(self, token: str | None) -> Mounted:
        return Mounted(self.app, self.prefix, token)


def test_mfa_from_enrollment_to_reset(frontdesk: Kit, ada: Person) -> None:
    api: Any = Mounted(ada.app, "/desk")
    ada.api = lambda: Mounted(ada.app, "/desk", ada.token())  # type: ignore[method-assign]
    clock: Any = frontdesk.clock
    mfa = enrolled(ada, clock)
    assert len(mfa.recovery_codes) == 10
    answer = finish(api, challenge(api, ada), otp=mfa.phone.next_code(), trust=True).json
    form = {"username": ada.email, "password": ada.password}
    api.post("/login", data=form, headers={"X-Trusted-Device": answer["trusted_device"]})
    finish(api, challenge(api, ada), recovery_code=mfa.recovery_codes[0])
    here = api.as_token(answer["access_token"])
    assert here.get("/recovery-codes").json == {"left": 9}
    [mine] = here.get("/authenticators").json
    assert here.patch(f"/authenticators/{mine['id']}", json={"name": "Old"}).json["name"] == "Old"
    [device] = here.get("/trusted-devices").json
    assert here.delete(f"/trusted-devices/{device['id']}").json["id"] == device["id"]
    root = frontdesk.account("root", role="root", prefix="/desk")
    as_root = Mounted(root.app, "/desk", root.token())
    reset = as_root.delete(f"/admin/accounts/{id_in_json(ada)}/authenticators").json
    assert reset == {"authenticators": 1}
    here.get("/account", 401)
    api.post("/login", data=form)


def test_disabled_mfa_blueprint_cannot_be_mounted() -> None:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    model = account_model(db, "integer")
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=model)
    with pytest.raises(
        SetupError, match=r"'mfa' cannot be mounted: set AUTH\.MFA to `optional` or"
    ):
        host.register_blueprint(blueprints.mfa)
