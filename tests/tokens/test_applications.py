"""Personal tokens in an application with its own accounts."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Uuid, inspect
from sqlalchemy.orm import mapped_column

from app import AccountMixin, Frontdesk, active_account_required, current_account
from app.auth.settings import AuthSettings
from app.core.context import current_frontdesk
from app.testing.people import make_person

from ..rigs.hosts import HostSettings

TABLE = "frontdesk_personal_tokens"


def host(setting: Any, *names: str) -> Flask:
    app = Flask("host")
    app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(app)
    key = mapped_column(Uuid, primary_key=True, default=uuid4)
    reader: Any = type("Reader", (AccountMixin, db.Model), {"__tablename__": "readers", "id": key})
    settings = HostSettings()
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=4, PERSONAL_TOKENS=setting)
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    frontdesk.init_app(app, db, settings=settings, account_model=reader)
    frontdesk.mount(app, only=names)
    orders_read = frontdesk.scope("orders:read", "Read orders")

    @app.get("/orders")
    @active_account_required
    @orders_read
    def orders() -> dict[str, str]:
        return {"of": current_account.email}

    with app.app_context():
        db.create_all()
    return app


def tables(app: Flask) -> set[str]:
    with app.app_context():
        return {*inspect(current_frontdesk.engine).get_table_names()}


def test_table_exists_only_with_the_setting() -> None:
    assert TABLE not in tables(host("off", "auth"))
    assert TABLE in tables(host("on", "auth"))


def test_token_has_a_scope_of_the_application() -> None:
    app = host("on", "auth", "tokens", "workspaces")
    ada = make_person(app, "ada")
    assert isinstance(ada.id, UUID)
    api = ada.api()
    assert {"name": "orders:read", "description": "Read orders"} in api.get("/scopes").json
    body = {"name": "Shop", "scopes": ["orders:read"], "workspace": "ada"}
    token = api.post("/personal-tokens", 422, json={**body, "scopes": ["orders:write"]})
    bound = api.post("/personal-tokens", 201, json=body).json["token"]
    token = api.post("/personal-tokens", 201, json={**body, "workspace": None}).json["token"]
    assert api.as_token(token).get("/orders").json == {"of": ada.email}
    api.as_token(token).get("/account", 403)
    api.as_token(bound).get("/orders", 403)
    ada.change(status="suspended")
    api.as_token(token).get("/orders", 401)
