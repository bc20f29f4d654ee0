"""The smallest application: sign-in, and one view that only active accounts can call."""

from __future__ import annotations

import os

import flask_frontdesk
from flask import Flask
from flask_frontdesk import active_account_required, blueprints
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    pass


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()


def create_app(database_url: str = "sqlite:///smallest.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    # [protect]
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")

    @app.get("/hello")
    @active_account_required
    def hello() -> dict[str, str]:
        return {"hello": frontdesk.current_account.email}

    with app.app_context():
        db.create_all()
    return app
    # [end]
