"""Users sign in at a proxy, which sends their email address in a header of each request."""

from __future__ import annotations

import os
from contextlib import suppress

import flask_frontdesk
from flask import Flask, Request
from flask_frontdesk import active_account_required, blueprints, current_account
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase
from werkzeug.middleware.proxy_fix import ProxyFix


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    """A user, created with the first request."""


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()


# [authenticate]
EMAIL_HEADER = "X-Forwarded-Email"
PROXIES = os.environ.get("PROXIES", "127.0.0.1 ::1").split()


@frontdesk.authenticate
def authenticate(request: Request) -> Account | None:
    email = request.headers.get(EMAIL_HEADER)
    if not email:
        return None
    if peer_address(request) not in PROXIES:
        raise flask_frontdesk.Unauthorized(f"{EMAIL_HEADER} is accepted only from the proxy")
    return frontdesk.accounts.find(email) or create_account(email)


def peer_address(request: Request) -> str | None:
    """Return the address of the connection: ProxyFix replaces `remote_addr` with the client's."""
    environ = request.environ.get("werkzeug.proxy_fix.orig", request.environ)
    found: str | None = environ.get("REMOTE_ADDR")
    return found


# [end]


# [provision]
def create_account(email: str) -> Account:
    """Create the account, unless a request at the same time has created it."""
    with suppress(flask_frontdesk.EmailTaken):
        return frontdesk.accounts.create(email, None)
    return frontdesk.accounts.get(email)


# [end]


def create_app(database_url: str = "sqlite:///proxy.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    app.config["FRONTDESK"] = {"CORE": {"PUBLIC_URL": "http://localhost"}}
    db.init_app(app)
    # [mount]
    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1, x_proto=1)  # type: ignore[method-assign]
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.notifications, url_prefix="/api/notifications")

    @app.route("/hello", methods=["GET", "POST"])
    @active_account_required
    def hello() -> dict[str, str]:
        return {"hello": current_account.email}

    # [end]

    with app.app_context():
        db.create_all()
    return app
