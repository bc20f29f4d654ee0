"""An application that delivers with Celery: its own Celery application, or Frontdesk's."""

from __future__ import annotations

import os

from celery import Celery
from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from app import Frontdesk, Parts
from app.accounts.account import Account, ServiceBase

# [own]
shop_jobs = Celery("shop", broker=os.environ.get("SHOP_BROKER", "memory://"))


def own_celery(app: Flask, db: SQLAlchemy, frontdesk: Frontdesk) -> Celery:
    frontdesk.init_app(app, db, account_model=Account, parts=Parts(celery=shop_jobs))
    return shop_jobs
    # [end]


def our_celery(app: Flask, db: SQLAlchemy, frontdesk: Frontdesk) -> Celery:
    # [ours]
    app.config["FRONTDESK"] = {"CORE": {"CELERY_BROKER_URL": os.environ["SHOP_BROKER"]}}
    frontdesk.init_app(app, db, account_model=Account)
    return frontdesk.celery
    # [end]


def make_shop() -> tuple[Flask, Frontdesk, Celery]:
    folder = os.environ["SHOP_FOLDER"]
    app = Flask("shop", instance_path=folder)
    app.config["SECRET_KEY"] = "a key that the shop's processes share, long enough"
    app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{folder}/shop.db"
    db, frontdesk = SQLAlchemy(app, model_class=ServiceBase), Frontdesk()
    set_up = own_celery if os.environ["SHOP_CELERY"] == "own" else our_celery
    made = set_up(app, db, frontdesk)
    with app.app_context():
        db.create_all()
    return app, frontdesk, made


if "SHOP_WORKER" in os.environ:
    # As in `worker.py` of the documentation, the name of the Flask application differs.
    app, _, celery = make_shop()
