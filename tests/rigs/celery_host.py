"""An application that delivers with Celery: its own Celery application, or Frontdesk's."""

from __future__ import annotations

import os

from celery import Celery
from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from app import Frontdesk, Parts
from app.accounts.account import Account, ServiceBase

# [own]
jobs = Celery("pinboard", broker=os.environ.get("BROKER_URL", "memory://"))


def own_celery(app: Flask, db: SQLAlchemy, frontdesk: Frontdesk) -> Celery:
    frontdesk.init_app(app, db, account_model=Account, parts=Parts(celery=jobs))
    return jobs
    # [end]


def our_celery(app: Flask, db: SQLAlchemy, frontdesk: Frontdesk) -> Celery:
    # [ours]
    app.config["FRONTDESK"] = {"CORE": {"CELERY_BROKER_URL": os.environ["BROKER_URL"]}}
    frontdesk.init_app(app, db, account_model=Account)
    return frontdesk.celery
    # [end]


def make_pinboard() -> tuple[Flask, Frontdesk, Celery]:
    folder = os.environ["PINBOARD_FOLDER"]
    app = Flask("pinboard", instance_path=folder)
    app.config["SECRET_KEY"] = "a key that the processes of the pinboard share, long enough"
    app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{folder}/pinboard.db"
    db, frontdesk = SQLAlchemy(app, model_class=ServiceBase), Frontdesk()
    set_up = own_celery if os.environ["PINBOARD_CELERY"] == "own" else our_celery
    made = set_up(app, db, frontdesk)
    with app.app_context():
        db.create_all()
    return app, frontdesk, made


if "PINBOARD_WORKER" in os.environ:
    # As in `worker.py` of the documentation, the name of the Flask application differs.
    app, _, celery = make_pinboard()
