"""An application with Frontdesk, which signs the tokens that `orders.py` verifies."""

from __future__ import annotations

import os

import flask_frontdesk
from flask import Flask
from flask_frontdesk import blueprints
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    pass


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()


def create_app() -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite:///accounts.db"
    app.config["FRONTDESK"] = {
        "AUTH": {
            "SIGNING_KEYS": "signing-keys.json",
            "ACCEPT_HS256": False,
            "AUDIENCE": "api.example.com",
            "ISSUER": "https://api.example.com",
        }
    }
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.well_known)
    with app.app_context():
        db.create_all()
    return app
