"""An application that keeps its cookie: Flask-Login and Flask-WTF, with Frontdesk behind them.

Users sign in on the application's page and have a session; API clients send Frontdesk's token. Both
use the same views.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

import flask_frontdesk
from flask import Flask, Request, redirect, render_template_string, request, session
from flask_frontdesk import active_account_required, blueprints, current_account, fresh_required
from flask_login import (
    LoginManager,
    UserMixin,
    current_user,
    login_required,
    login_user,
    logout_user,
)
from flask_sqlalchemy import SQLAlchemy
from flask_wtf import CSRFProtect
from werkzeug.wrappers import Response

db = SQLAlchemy()
frontdesk = flask_frontdesk.Frontdesk()
login_manager = LoginManager()
csrf = CSRFProtect()


# [account]
class Account(flask_frontdesk.AccountMixin, UserMixin, db.Model):
    @property
    def is_active(self) -> bool:
        return frontdesk.accounts.is_active(self)

    def get_id(self) -> str:
        """The cookie's value: a new password or email address changes it and ends old cookies."""
        since = self.tokens_valid_from or self.created_at
        return f"{self.id} {since.timestamp()}"


# [end]


# [user_loader]
@login_manager.user_loader
def load_user(value: str) -> Account | None:
    """Return None after a new password, a sign-out or a suspension."""
    account = frontdesk.accounts.by_id(int(value.split()[0]))
    if account is None or account.get_id() != value or account.logged_out_at is not None:
        return None
    return account if account.is_active else None


# [end]


# [request_loader]
@login_manager.request_loader
def load_account(request: Request) -> Account | None:
    """Accept a bearer token without a cookie; an invalid token returns 401."""
    account = frontdesk.account_of(request)
    return account if account is not None and account.is_active else None


# [end]


# [authenticate]
@frontdesk.authenticate
def read_session(_request: Request) -> flask_frontdesk.Authenticated | None:
    """Return Flask-Login's user to Frontdesk's decorators and routes."""
    if not current_user.is_authenticated:
        return None
    return flask_frontdesk.Authenticated(
        current_user.id, authenticated_at=session.get("signed_in_at")
    )


# [end]

FORM = """
<form method="post">
  <input type="hidden" name="csrf_token" value="{{ csrf_token() }}">
  <p>{{ error }}</p>
  <input name="email" type="email"> <input name="password" type="password"> <button>Sign in</button>
</form>
"""


def create_app(database_url: str = "sqlite:///cookie.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SESSION_COOKIE_SAMESITE"] = "Lax"
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    login_manager.init_app(app)
    csrf.init_app(app)
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.notifications, url_prefix="/api/notifications")

    # [login]
    @app.route("/login", methods=["GET", "POST"])
    def login() -> str | Response:
        error = ""
        if request.method == "POST":
            try:
                account = frontdesk.verify_password(request.form["email"], request.form["password"])
                frontdesk.sign_in(account, how="password")
                login_user(account)
                session["signed_in_at"] = datetime.now(UTC)
                return redirect("/")
            except flask_frontdesk.Problem as problem:
                error = problem.detail
        return render_template_string(FORM, error=error)

    # [end]

    # [logout]
    @app.post("/logout")
    @login_required
    def logout() -> Response:
        logout_user()
        return redirect("/login")

    @app.post("/logout-everywhere")
    @login_required
    def logout_everywhere() -> Response:
        """Revoke every token and every cookie of the account."""
        frontdesk.sign_out(current_user)
        return redirect("/login")

    # [end]

    # [views]
    @app.route("/notes", methods=["GET", "POST"])
    @csrf.exempt
    @active_account_required
    def notes() -> dict[str, Any]:
        return {"by": current_account.email}

    @app.get("/payout")
    @active_account_required
    @fresh_required(minutes=10)
    def payout() -> dict[str, Any]:
        return {"to": current_account.email}

    # [end]

    @app.get("/")
    @login_required
    def home() -> dict[str, Any]:
        return {"hello": current_user.email}

    with app.app_context():
        db.create_all()
    return app
