"""A pinboard with Frontdesk's inbox on its pages, with a strict Content-Security-Policy."""

from __future__ import annotations

import os

import flask_frontdesk
from flask import Flask, redirect, render_template_string, request
from flask_frontdesk import account_required, blueprints, current_account
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase
from werkzeug.wrappers import Response


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    """A user of the pinboard."""


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()
frontdesk.notification_kind("notes", name="Notes", description="New notes on the pinboard.")

LOGIN = """<!doctype html><title>Sign in</title>
<form method="post">
  <p>{{ error }}</p>
  <input name="email" type="email"> <input name="password" type="password"> <button>Sign in</button>
</form>
"""
# [page]
PAGE = """<!doctype html>
<html lang="en">
<title>Notes</title>
<script type="module" src="{{ frontdesk_inbox_url() }}"></script>
<header>
  {{ account.email }}
  <frontdesk-inbox></frontdesk-inbox>
</header>
<main>
  <h1>{{ title }}</h1>
  <form method="post" action="/notes">
    <input name="text" aria-label="Note"> <button>Pin</button>
  </form>
</main>
"""
# [end]
# [policy]
POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'"
# [end]


def create_app(
    database_url: str = "sqlite:///inbox.db", url: str = "http://localhost:5000"
) -> Flask:
    app = Flask(__name__)
    # [set-up]
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["FRONTDESK"] = {"AUTH": {"COOKIE_SESSIONS": "on"}, "CORE": {"CLIENT_HOST": url}}
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.sessions, url_prefix="/api")
    app.register_blueprint(blueprints.notifications, url_prefix="/api/notifications")
    # [end]
    notes: list[str] = []

    @app.route("/login", methods=["GET", "POST"])
    def login() -> str | Response:
        error = ""
        if request.method == "POST":
            try:
                account = frontdesk.verify_password(request.form["email"], request.form["password"])
                frontdesk.sign_in(account, how="password", by_cookie=True)
                return redirect("/")
            except flask_frontdesk.Problem as problem:
                error = problem.detail
        return render_template_string(LOGIN, error=error)

    @app.get("/")
    @app.get("/notes/<int:number>")
    @account_required
    def show(number: int | None = None) -> str:
        title = "Notes" if number is None else notes[number - 1]
        return render_template_string(PAGE, account=current_account, title=title)

    # [notify]
    @app.post("/notes")
    @account_required
    def pin_note() -> Response:
        notes.append(request.form["text"])
        frontdesk.notify(
            "A note was pinned",
            notes[-1],
            channels=["inapp"],
            kind="notes",
            url=f"/notes/{len(notes)}",
        )
        return redirect("/")

    # [end]

    @app.after_request
    def set_policy(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response

    with app.app_context():
        db.create_all()
    return app
