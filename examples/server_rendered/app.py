"""Account pages rendered by the server, without JavaScript: sign-in with a second factor, step-up
before all notes are deleted, an authenticator app, a list of devices, and an inbox."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import timedelta

import flask_frontdesk
from flask import Flask, redirect, render_template, request, session, url_for
from flask_frontdesk import (
    InvalidProof,
    Problem,
    ReauthenticationRequired,
    SecondFactorRequired,
    SessionNotFound,
    Unauthorized,
    WrongFactor,
    active_account_required,
    fresh_required,
)
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase
from werkzeug.wrappers import Response


class Base(DeclarativeBase):
    pass


class Account(flask_frontdesk.AccountMixin, Base):
    pass


db = SQLAlchemy(model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()
# The secret of a trusted device, in a cookie of this application.
DEVICE = "__Host-device"


def create_app(database_url: str = "sqlite:///account.db") -> Flask:
    app = Flask(__name__)
    # [set-up]
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    app.config["SESSION_COOKIE_SAMESITE"] = "Lax"
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    app.config["FRONTDESK"] = {
        "AUTH": {"COOKIE_SESSIONS": "on", "MFA": "optional", "MFA_TRUST_DAYS": 30}
    }
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=Account)
    # [end]
    add_sign_in(app)
    add_step_up(app)
    add_authenticators(app)
    add_devices(app)
    add_inbox(app)
    with app.app_context():
        db.create_all()
    return app


def add_sign_in(app: Flask) -> None:
    # [sign-in]
    @app.route("/sign-in", methods=["GET", "POST"])
    def sign_in() -> str | Response:
        error = ""
        if request.method == "POST":
            device = request.cookies.get(DEVICE)
            try:
                account = frontdesk.verify_password(request.form["email"], request.form["password"])
                frontdesk.sign_in(account, how="password", by_cookie=True, trusted_device=device)
                return redirect(url_for("home"))
            except SecondFactorRequired as problem:
                session["mfa_token"] = problem.members["mfa_token"]
                return redirect(url_for("second_step"))
            except Problem as problem:
                error = problem.detail
        return render_template("sign_in.html", error=error)

    # [end]
    # [second-step]
    @app.route("/sign-in/code", methods=["GET", "POST"])
    def second_step() -> str | Response:
        error = ""
        if request.method == "POST":
            try:
                done = frontdesk.finish_sign_in(
                    session.get("mfa_token", ""),
                    otp=request.form.get("otp"),
                    recovery_code=request.form.get("recovery_code"),
                    trust="trust" in request.form,
                    by_cookie=True,
                )
                session.pop("mfa_token", None)
                return with_device(redirect(url_for("home")), done.get("trusted_device"))
            except InvalidProof:
                # The token has expired or is used.
                return redirect(url_for("sign_in"))
            except Problem as problem:
                error = problem.detail
        return render_template("second_step.html", error=error)

    def with_device(response: Response, secret: str | None) -> Response:
        if secret is not None:
            age = timedelta(days=30)
            response.set_cookie(
                DEVICE, secret, max_age=age, secure=True, httponly=True, samesite="Lax"
            )
        return response

    # [end]

    @app.post("/sign-out")
    def sign_out() -> Response:
        frontdesk.sign_out_here()
        return redirect(url_for("sign_in"))

    @app.get("/")
    @active_account_required
    def home() -> str:
        return render_template(
            "home.html",
            account=frontdesk.current_account,
            authenticators=frontdesk.authenticators.list(),
        )

    @app.errorhandler(Unauthorized)
    def ask_to_sign_in(_problem: Problem) -> Response:
        return redirect(url_for("sign_in"))


def add_step_up(app: Flask) -> None:
    # [step-up]
    @app.route("/delete-notes", methods=["GET", "POST"])
    @active_account_required
    @fresh_required(minutes=5)
    def delete_notes() -> str:
        return render_template("delete_notes.html", done=request.method == "POST")

    @app.errorhandler(ReauthenticationRequired)
    def ask_again(_problem: Problem) -> Response:
        session["next"] = request.path if request.method == "GET" else url_for("home")
        return redirect(url_for("confirm"))

    @app.route("/confirm", methods=["GET", "POST"])
    @active_account_required
    def confirm() -> str | Response:
        has_factor = bool(frontdesk.authenticators.list())
        error = ""
        if request.method == "POST":
            try:
                if has_factor:
                    frontdesk.reauthenticate(otp=request.form["otp"])
                else:
                    frontdesk.reauthenticate(password=request.form["password"])
                return redirect(session.pop("next", url_for("home")))
            except Problem as problem:
                error = problem.detail
        return render_template("confirm.html", has_factor=has_factor, error=error)

    # [end]


def add_authenticators(app: Flask) -> None:
    # [authenticators]
    @app.post("/authenticators")
    @active_account_required
    def begin() -> str:
        setup = frontdesk.authenticators.begin_app("Phone")
        return render_template("set_up.html", setup=setup, id=setup.id, error="")

    @app.post("/authenticators/<int:authenticator_id>/confirm")
    @active_account_required
    def confirm_app(authenticator_id: int) -> str:
        try:
            done = frontdesk.authenticators.confirm_app(authenticator_id, request.form["otp"])
        except WrongFactor as problem:
            return render_template("set_up.html", id=authenticator_id, error=problem.detail)
        return render_template("recovery_codes.html", codes=done["recovery_codes"])

    @app.post("/authenticators/<int:authenticator_id>/remove")
    @active_account_required
    def remove(authenticator_id: int) -> Response:
        frontdesk.authenticators.remove(authenticator_id)
        return redirect(url_for("home"))

    # [end]


def add_devices(app: Flask) -> None:
    # [devices]
    @app.get("/devices")
    @active_account_required
    def devices() -> str:
        return render_template("devices.html", sessions=frontdesk.sessions.list())

    @app.post("/devices/<session_id>/end")
    @active_account_required
    def end(session_id: str) -> Response:
        with suppress(SessionNotFound):
            frontdesk.sessions.end(session_id)
        return redirect(url_for("devices"))

    @app.post("/devices/end-others")
    @active_account_required
    def end_others() -> Response:
        frontdesk.sessions.end_all(others=True)
        return redirect(url_for("devices"))

    # [end]


def add_inbox(app: Flask) -> None:
    # [inbox]
    @app.get("/inbox")
    @active_account_required
    def inbox() -> str:
        before = request.args.get("before", type=int)
        items = frontdesk.inbox.page(frontdesk.current_account, limit=20, before=before)
        return render_template("inbox.html", items=items)

    @app.post("/inbox/<int:notification_id>/read")
    @active_account_required
    def read(notification_id: int) -> Response:
        frontdesk.inbox.mark(frontdesk.current_account, notification_id, True)
        return redirect(url_for("inbox"))

    # [end]
