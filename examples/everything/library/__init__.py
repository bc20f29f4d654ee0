"""A library's application, in which everything that Frontdesk lets a host decide is decided."""

from __future__ import annotations

from typing import Any

import flask_frontdesk
from flask import Flask

from .decisions import frontdesk
from .models import Account, db
from .schemas import AccountCard, CallbackData, Desk, LoanCreate, LoanUpdate
from .settings import Settings
from .views import views


def create_app(settings: Any = None, **config: Any) -> Flask:
    app = Flask(__name__)
    app.config.from_mapping(SQLALCHEMY_DATABASE_URI="sqlite:///library.db")
    app.config.from_mapping(config)
    db.init_app(app)
    # [replace]
    frontdesk.init_app(
        app,
        db,
        settings=settings or Settings(),
        account_model=Account,
        account_schema=AccountCard,
        login_schema=Desk,
        active_statuses=["reader", "librarian"],
        idp_payload_schema=CallbackData,
        task_create_schema=LoanCreate,
        task_update_schema=LoanUpdate,
    )
    # [end]
    # [mount]
    app.register_blueprint(flask_frontdesk.auth, url_prefix="/desk")
    app.register_blueprint(flask_frontdesk.tasks, url_prefix="/desk/loans")
    app.register_blueprint(flask_frontdesk.workspaces, url_prefix="/desk/branches")
    app.register_blueprint(flask_frontdesk.profiles, url_prefix="/desk/profiles")
    app.register_blueprint(flask_frontdesk.notifications, url_prefix="/desk/post")
    app.register_blueprint(flask_frontdesk.admin_notifications, url_prefix="/desk/mailings")
    app.register_blueprint(flask_frontdesk.health, url_prefix="/desk")
    app.register_blueprint(flask_frontdesk.docs, url_prefix="/desk")
    # [end]
    app.register_blueprint(views)
    return app
