"""An application with sign-ins that take seconds, to test that servers handle other requests."""

from __future__ import annotations

import os

from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from app import Frontdesk
from app.accounts.account import Account, ServiceBase
from app.blueprints import auth, health


def make_host() -> Flask:
    host = Flask("host", instance_path=os.getcwd())
    host.config["SECRET_KEY"] = "a key that is long enough, and known to this host alone"
    host.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{os.getcwd()}/host.db"
    host.config["FRONTDESK"] = {"AUTH": {"BCRYPT_ROUNDS": 15}}
    db = SQLAlchemy(host, model_class=ServiceBase)
    Frontdesk().init_app(host, db, account_model=Account)
    host.register_blueprint(auth)
    host.register_blueprint(health)
    with host.app_context():
        db.create_all()
    return host
