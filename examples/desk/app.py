"""A shop with pages in the console, for its customers and for its admins."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import flask_frontdesk
from flask import Flask, redirect, request, url_for
from flask_frontdesk import active_account_required, blueprints, roles_required
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import ForeignKey, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from werkzeug.wrappers import Response


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    article: Mapped[str]
    is_sent: Mapped[bool] = mapped_column(default=False)
    ordered_at: Mapped[datetime] = mapped_column(default=lambda: datetime.now(UTC))


class Settings:
    AUTH = flask_frontdesk.AuthSettings(COOKIE_SESSIONS="alone")
    BRAND = flask_frontdesk.BrandSettings(NAME="The Shop", COLOR="#0b6b4f")


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()
SHIPPED = frontdesk.notification_kind("order-shipped", name="Shipped orders", channels=["inapp"])


@frontdesk.console.page("orders", title="Orders", icon="book")
@active_account_required
def orders() -> Response:
    own = select(Order).where(Order.account_id == frontdesk.current_account.id)
    found = db.session.scalars(own.order_by(Order.id.desc()).limit(50)).all()
    return frontdesk.console.render("orders.html", orders=found)


@frontdesk.console.page("order", "/orders/new", methods=["POST"], keep=["article"])
@active_account_required
def order() -> Response:
    with frontdesk.transaction() as session:
        article = request.form["article"].strip()[:200]
        session.add(Order(account_id=frontdesk.current_account.id, article=article))
    return redirect(url_for(".orders"), 303)


@frontdesk.console.page(
    "sending",
    title="Orders to send",
    icon="send",
    section="Administration",
    roles=("admin", "root"),
)
@active_account_required
@roles_required("admin", "root")
def sending() -> Response:
    waiting = select(Order, Account.email).join(Account).where(Order.is_sent.is_(False))
    found = db.session.execute(waiting.order_by(Order.id).limit(50)).all()
    return frontdesk.console.render("sending.html", waiting=found)


@frontdesk.console.page("send_order", "/sending/<int:order_id>", methods=["POST"])
@active_account_required
@roles_required("admin", "root")
def send_order(order_id: int) -> Response:
    with frontdesk.transaction():
        order = db.get_or_404(Order, order_id)
        order.is_sent = True
        frontdesk.notify(
            "On its way",
            f"We have sent you: {order.article}.",
            kind=SHIPPED,
            url="/orders",
            receivers=[order.account_id],
        )
    return redirect(url_for(".sending"), 303)


def create_app(database_url: str = "sqlite:///desk.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    frontdesk.init_app(app, db, settings=Settings, account_model=Account)
    frontdesk.mount(app, "/api", only=["notifications", "profiles", "administration"])
    app.register_blueprint(blueprints.console, url_prefix="/desk")

    @app.get("/")
    def home() -> str:
        return f'<a href="{url_for("console.dashboard")}">Your desk</a>'

    with app.app_context():
        db.create_all()
    return app
