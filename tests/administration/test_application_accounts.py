"""The application's accounts, with each type of id and without optional columns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import String, Uuid
from sqlalchemy.orm import mapped_column

from app import AccountMixin, Frontdesk, blueprints
from app.testing.client import Api
from app.testing.kit import Kit

from ..rigs.backends import postgres_database
from ..rigs.hosts import HostSettings

ID_TYPES: dict[str, Any] = {
    "uuid": (Uuid, uuid4),
    "text": (String(40), lambda: f"acc {uuid4().hex}"),
}
ACCOUNTS = "/staff/accounts"


def host_at(url: str, kind: str, **columns: Any) -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = url
    db = SQLAlchemy(host)
    type_, default = ID_TYPES[kind]
    key = mapped_column("uid", type_, primary_key=True, default=default)
    members = {"__tablename__": "people", "id": key, **columns}
    model: Any = type("Account", (AccountMixin, db.Model), members)
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    frontdesk.init_app(host, db, settings=HostSettings(), account_model=model)
    host.register_blueprint(blueprints.auth)
    host.register_blueprint(blueprints.admin_notifications, url_prefix="/staff/news")
    host.register_blueprint(blueprints.administration, url_prefix=ACCOUNTS)
    with host.app_context():
        db.create_all()
    return host


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "sqlite":
        yield "sqlite://"
        return
    with postgres_database(f"frontdesk_staff_{os.getpid()}") as created:
        yield created


@pytest.fixture(params=ID_TYPES)
def app(request: pytest.FixtureRequest, url: str) -> Iterator[Flask]:
    host = host_at(url, request.param)
    yield host
    with host.app_context():
        host.extensions["sqlalchemy"].engine.dispose()


def pages(api: Api, query: str) -> Iterator[str]:
    path = f"{ACCOUNTS}?{query}"
    while path:
        response = api.get(path)
        yield from (each["email"].partition("@")[0] for each in response.json)
        link = response.headers.get("Link", "")
        # The last page links only to the previous page.
        path = link.partition("<")[2].partition(">")[0] if 'rel="next"' in link else ""


def test_accounts_with_any_id_type_are_managed(frontdesk: Kit) -> None:
    root, ada = frontdesk.account("root", role="root"), frontdesk.account("ada")
    api, path = root.api(), f"{ACCOUNTS}/{ada.id}"
    [found] = api.get(ACCOUNTS, query_string={"search": str(ada.id)}).json
    assert found == api.get(path).json
    assert (found["id"], found["email"]) == (str(ada.id), ada.email)
    until = "2100-01-01T00:00:00+00:00"
    suspended = api.patch(path, json={"status": "suspended", "suspended_until": until}).json
    assert suspended["suspended_until"] == until
    for action in ("unlock", "sign-out", "verify"):
        assert api.post(f"{path}/{action}").json["id"] == str(ada.id)
    data = {"title": "News", "message": "m", "channels": ["inapp", "email"]}
    api.post("/staff/news", 201, json={"data": data})
    [delivery] = api.get(f"{path}/deliveries").json
    assert (delivery["title"], delivery["channel"]) == ("News", "email")
    assert [each["slug"] for each in api.get(f"{path}/memberships").json] == ["ada"]
    api.delete(path)
    api.get(path, 404)
    api.get(f"{ACCOUNTS}/{root.id}")


@pytest.mark.parametrize("sort", ["created_at", "-created_at", "email", "id", "-last_login_date"])
def test_pages_continue_with_any_id_type(frontdesk: Kit, sort: str) -> None:
    names = [frontdesk.account(name).email.partition("@")[0] for name in ("b", "a", "c")]
    root = frontdesk.account("root", role="root")
    seen = list(pages(root.api(), f"sort={sort}&limit=1"))
    assert sorted(seen) == sorted([*names, "root"])
    if sort == "email":
        assert seen == ["a", "b", "c", "root"]
