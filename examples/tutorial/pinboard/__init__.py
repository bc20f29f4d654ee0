"""A pinboard for teams: a Flask application with Frontdesk."""

from __future__ import annotations

import os

import flask_frontdesk
from flask import Flask
from flask_frontdesk import blueprints
from flask_migrate import Migrate

from .extensions import NamedAccount, SignUp, frontdesk
from .models import Account, db

# [import]
from .notes import notes

# [end]


# [app]
def create_app(database_url: str | None = None) -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ["SECRET_KEY"]
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url or os.environ.get(
        "DATABASE_URL", "sqlite:///pinboard.db"
    )
    app.config["FRONTDESK"] = {
        "CORE": {
            "PROJECT_NAME": "Pinboard",
            "PUBLIC_URL": os.environ.get("PUBLIC_URL", "http://localhost:5000"),
            "CONSOLE_PATH": "/",
        },
        "AUTH": {"REGISTRATION": "open", "COOKIE_SESSIONS": "alone"},
    }
    db.init_app(app)
    Migrate(app, db, render_item=flask_frontdesk.render_item)
    frontdesk.init_app(
        app,
        db,
        account_model=Account,
        schemas=flask_frontdesk.Schemas(account=NamedAccount, registration=SignUp),
    )
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.registration, url_prefix="/api")
    app.register_blueprint(blueprints.workspaces, url_prefix="/api/workspaces")
    app.register_blueprint(blueprints.invitations, url_prefix="/api")
    app.register_blueprint(blueprints.notifications, url_prefix="/api/notifications")
    app.register_blueprint(blueprints.health, url_prefix="/api")
    app.register_blueprint(blueprints.docs, url_prefix="/api")
    app.register_blueprint(blueprints.console)
    # [mount]
    app.register_blueprint(notes, url_prefix="/api/<workspace_slug>/notes")
    # [end]
    return app


# [end]
