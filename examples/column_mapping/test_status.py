"""Each model stores every status, so that no account is locked out when the status changes back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from secrets import token_urlsafe
from types import ModuleType
from typing import Any

import fastapi_user
import login_user
import mixin_user
import pytest
import security_user
from flask import Flask
from flask_frontdesk import blueprints
from flask_frontdesk.testing import Kit, MailOutbox
from sqlalchemy import text

PASSWORD = token_urlsafe()
FORM = {"username": "grace@example.com", "password": PASSWORD}
SETTINGS = {
    "AUTH__REGISTRATION": "open",
    "AUTH__ACCOUNT_DELETION": "on",
    "AUTH__RATE_LIMITS_ENABLED": "false",
}


MODELS = (fastapi_user, login_user, mixin_user, security_user)


@pytest.fixture(params=MODELS, ids=lambda each: each.__name__)
def app(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Flask]:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(f"FRONTDESK_{name}", value)
    module: ModuleType = request.param
    url = os.environ.get("TEST_DATABASE_URL") or f"sqlite:///{tmp_path / 'status.db'}"
    app: Flask = module.create_app(url)
    app.register_blueprint(blueprints.registration, url_prefix="/api")
    app.register_blueprint(blueprints.deletion, url_prefix="/api")
    app.register_blueprint(blueprints.administration, url_prefix="/api/admin/accounts")
    with app.app_context():
        if module.db.engine.dialect.name == "postgresql":
            with module.db.engine.begin() as connection:
                connection.execute(text("DROP SCHEMA public CASCADE"))
                connection.execute(text("CREATE SCHEMA public"))
        module.db.create_all()
    yield app
    with app.app_context():
        module.db.engine.dispose()


@pytest.fixture
def mails(frontdesk: Kit) -> MailOutbox:
    return frontdesk.mails


def mailed_token(mails: MailOutbox, email: str) -> str:
    found = re.search(r"\?token=(\S+)", mails.last(email).text)
    assert found
    return found[1]


def test_an_account_signs_in_after_its_deletion_was_undone(
    frontdesk: Kit, mails: MailOutbox
) -> None:
    grace = frontdesk.account("grace", password=PASSWORD)
    grace.api().delete("/api/account", 202, json={"password": PASSWORD})
    frontdesk.api().post("/api/login", 400, data=FORM)
    token = mailed_token(mails, grace.email)
    frontdesk.api().post("/api/account/restore", json={"token": token})
    frontdesk.api().post("/api/login", data=FORM)


def test_an_account_signs_in_after_its_email_address_was_verified(
    frontdesk: Kit, mails: MailOutbox
) -> None:
    body: dict[str, Any] = {"email": FORM["username"], "password": PASSWORD}
    frontdesk.api().post("/api/registration", 202, json=body)
    frontdesk.api().post("/api/login", 400, data=FORM)
    token = mailed_token(mails, FORM["username"])
    frontdesk.api().post("/api/email-verification", json={"token": token})
    frontdesk.api().post("/api/login", data=FORM)


def test_an_account_signs_in_after_its_suspension_was_lifted(frontdesk: Kit) -> None:
    grace = frontdesk.account("grace", password=PASSWORD)
    root = frontdesk.account("root", role=_admin_role(frontdesk)).api()
    for status, expected in (("suspended", 400), ("active", 200)):
        changed = root.patch(f"/api/admin/accounts/{grace.id}", json={"status": status}).json
        assert changed["status"] == status
        frontdesk.api().post("/api/login", expected, data=FORM)


def _admin_role(frontdesk: Kit) -> str:
    """fastapi-users only has superusers and users."""
    return "root" if frontdesk.app.name == "fastapi_user" else "admin"
