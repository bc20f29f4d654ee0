"""A pinboard with pages that use Frontdesk's cookie: a form without JavaScript, htmx, and a
script that fetches."""

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


LOGIN = """<!doctype html><title>Sign in</title>
<form method="post">
  <p>{{ error }}</p>
  <input name="email" type="email"> <input name="password" type="password"> <button>Sign in</button>
</form>
"""
NOTES = """<!doctype html><title>Notes</title>
<script src="/static/htmx.min.js"></script>
<p>{{ account.email }} <form method="post" action="/logout"><button>Sign out</button></form></p>
<ul id="notes">{% for note in notes %}<li>{{ note }}</li>{% endfor %}</ul>
<form method="post" action="/notes"><input name="text"> <button>Add</button></form>
<form hx-post="/notes" hx-target="#notes" hx-swap="beforeend">
  <input name="text"> <button>Add without loading the page</button>
</form>
"""


def create_app(database_url: str = "sqlite:///pages.db") -> Flask:
    app = Flask(__name__)
    # [set-up]
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["FRONTDESK"] = {"AUTH": {"COOKIE_SESSIONS": "on"}}
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.sessions, url_prefix="/api")
    # [end]
    notes: list[str] = []

    # [login]
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

    @app.post("/logout")
    def logout() -> Response:
        frontdesk.sign_out_here()
        return redirect("/login")

    # [end]

    # [views]
    @app.get("/")
    @account_required
    def home() -> str:
        return render_template_string(NOTES, account=current_account, notes=notes)

    @app.post("/notes")
    @account_required
    def pin_note() -> Response | str:
        notes.append(request.form["text"])
        if "HX-Request" in request.headers:
            return render_template_string("<li>{{ note }}</li>", note=notes[-1])
        return redirect("/")

    # [end]

    with app.app_context():
        db.create_all()
    return app
