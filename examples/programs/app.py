"""Orders of teams, which programs read and create with tokens."""

from __future__ import annotations

import os
from typing import Any

import flask_frontdesk
from flask import Flask, request
from flask_frontdesk import (
    active_account_required,
    active_caller_required,
    active_member_required,
    blueprints,
    current_member,
    current_workspace,
    scope,
    workspace_roles_required,
)
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import ForeignKey, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    workspace_id: Mapped[int] = mapped_column(
        ForeignKey("frontdesk_workspaces.id", ondelete="CASCADE")
    )
    # NULL for an order that a workspace token has created.
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    item: Mapped[str]

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "item": self.item, "account_id": self.account_id}


db = SQLAlchemy(model_class=Base)
# [declare]
frontdesk = flask_frontdesk.Frontdesk[Account]()
read_orders = frontdesk.scope("orders:read", "Read orders")
create_orders = frontdesk.scope("orders:create", "Create orders")
# [end]
frontdesk.use_workspaces()


def create_app(database_url: str = "sqlite:///programs.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    app.config["FRONTDESK"] = {"AUTH": {"PERSONAL_TOKENS": "on"}}
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.tokens, url_prefix="/api")
    app.register_blueprint(blueprints.workspaces, url_prefix="/api/workspaces")

    # [account]
    @app.get("/api/orders")
    @active_account_required
    @read_orders
    def own_orders() -> list[dict[str, Any]]:
        own = Order.account_id == frontdesk.current_account.id
        return [order.to_json() for order in db.session.scalars(select(Order).where(own))]

    # [end]
    # [outside]
    @app.get("/api/items")
    @active_account_required
    @scope("orders:read", workspace=False)
    def items() -> list[str]:
        return ["chair", "desk"]

    # [end]
    # [workspace]
    @app.get("/api/<workspace_slug>/orders")
    @active_caller_required
    @active_member_required
    @read_orders
    def orders(workspace_slug: str) -> list[dict[str, Any]]:
        ours = Order.workspace_id == current_workspace.id
        return [order.to_json() for order in db.session.scalars(select(Order).where(ours))]

    @app.post("/api/<workspace_slug>/orders")
    @active_caller_required
    @active_member_required
    @workspace_roles_required("owner", "admin")
    @create_orders
    def create_order(workspace_slug: str) -> dict[str, Any]:
        order = Order(
            item=request.json["item"],
            workspace_id=current_workspace.id,
            # None with a workspace token.
            account_id=current_member.account_id,
        )
        with frontdesk.transaction() as session:
            session.add(order)
            session.flush()
            return order.to_json()

    # [end]
    with app.app_context():
        db.create_all()
    return app
