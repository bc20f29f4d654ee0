"""A library's application, which uses every hook and setting of Frontdesk."""

from __future__ import annotations

from typing import Any

import flask_frontdesk
from flask import Flask
from flask_frontdesk import blueprints

from .decisions import frontdesk
from .models import Account, db
from .schemas import (
    AccountCard,
    CallbackData,
    Desk,
    LoanCreate,
    LoanUpdate,
    ReaderCreate,
    ReaderRead,
    Signup,
)
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
        schemas=flask_frontdesk.Schemas(
            account=AccountCard,
            login=Desk,
            idp_payload=CallbackData,
            registration=Signup,
            profile_create=ReaderCreate,
            profile_read=ReaderRead,
            task_create=LoanCreate,
            task_update=LoanUpdate,
        ),
    )
    # [end]
    # [mount]
    app.register_blueprint(blueprints.auth, url_prefix="/desk")
    app.register_blueprint(blueprints.registration, url_prefix="/desk")
    app.register_blueprint(blueprints.exports, url_prefix="/desk")
    app.register_blueprint(blueprints.deletion, url_prefix="/desk")
    app.register_blueprint(blueprints.tasks, url_prefix="/desk/loans")
    app.register_blueprint(blueprints.workspaces, url_prefix="/desk/branches")
    app.register_blueprint(blueprints.invitations, url_prefix="/desk")
    app.register_blueprint(blueprints.profiles, url_prefix="/desk/profiles")
    app.register_blueprint(blueprints.notifications, url_prefix="/desk/post")
    app.register_blueprint(blueprints.admin_notifications, url_prefix="/desk/mailings")
    app.register_blueprint(blueprints.health, url_prefix="/desk")
    app.register_blueprint(blueprints.docs, url_prefix="/desk")
    # [end]
    app.register_blueprint(views)
    return app
