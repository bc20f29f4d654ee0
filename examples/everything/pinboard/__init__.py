"""A pinboard for teams, which uses every hook and setting of Frontdesk."""

from __future__ import annotations

from typing import Any

import flask_frontdesk
from flask import Flask
from flask_frontdesk import blueprints

from .hooks import frontdesk
from .models import Account, db
from .schemas import (
    AccountSummary,
    CallbackData,
    LoginWithGreeting,
    MemberProfileCreate,
    MemberProfileRead,
    SignUp,
    TodoCreate,
    TodoUpdate,
)
from .settings import Settings
from .views import views


def create_app(settings: Any = None, **config: Any) -> Flask:
    app = Flask(__name__)
    app.config.from_mapping(SQLALCHEMY_DATABASE_URI="sqlite:///pinboard.db")
    app.config.from_mapping(config)
    db.init_app(app)
    # [replace]
    frontdesk.init_app(
        app,
        db,
        settings=settings or Settings(),
        account_model=Account,
        schemas=flask_frontdesk.Schemas(
            account=AccountSummary,
            login=LoginWithGreeting,
            idp_payload=CallbackData,
            registration=SignUp,
            profile_create=MemberProfileCreate,
            profile_read=MemberProfileRead,
            task_create=TodoCreate,
            task_update=TodoUpdate,
        ),
    )
    # [end]
    # [mount]
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.registration, url_prefix="/api")
    app.register_blueprint(blueprints.exports, url_prefix="/api")
    app.register_blueprint(blueprints.deletion, url_prefix="/api")
    app.register_blueprint(blueprints.tasks, url_prefix="/api/todos")
    app.register_blueprint(blueprints.workspaces, url_prefix="/api/teams")
    app.register_blueprint(blueprints.invitations, url_prefix="/api")
    app.register_blueprint(blueprints.profiles, url_prefix="/api/profiles")
    app.register_blueprint(blueprints.notifications, url_prefix="/api/inbox")
    app.register_blueprint(blueprints.admin_notifications, url_prefix="/api/broadcasts")
    app.register_blueprint(blueprints.health, url_prefix="/api")
    app.register_blueprint(blueprints.docs, url_prefix="/api")
    # [end]
    app.register_blueprint(views)
    return app
