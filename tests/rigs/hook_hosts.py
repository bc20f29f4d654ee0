"""An application whose hook `authenticate` reads the caller's id from a header."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask, Request

from app import (
    Frontdesk,
    account_optional,
    account_required,
    active_account_required,
    current_account,
    fresh_required,
    mfa_required,
    superuser_required,
)
from app.accounts.account import Account
from app.auth.settings import AuthSettings
from app.blueprints import console
from app.testing.people import Person

from .hosts import HostSettings, plain_app

HEADER = "X-User"
EVIL = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
Hook = Callable[[Request], Any]


def read_header(request: Request) -> Any:
    return request.headers.get(HEADER)


def as_user(person: Person, **more: str) -> dict[str, str]:
    return {HEADER: str(person.id), **more}


def hook_host(hook: Hook = read_header, **auth: Any) -> Flask:
    """Return an application with all routes that the settings enable below `/api`, the console at
    `/desk` if there are cookie sessions, and views of its own."""
    host, db = plain_app(SECRET_KEY=HostSettings.SECRET_KEY)
    settings = HostSettings()
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=4, **auth)
    frontdesk: Frontdesk[Account] = Frontdesk()
    frontdesk.authenticate(hook)
    frontdesk.init_app(host, db, settings=settings, account_model=Account)
    frontdesk.mount(host, "/api")
    if "COOKIE_SESSIONS" in auth:
        host.register_blueprint(console, url_prefix="/desk")
    add_views(host)
    with host.app_context():
        db.create_all()
    return host


def add_views(host: Flask) -> None:
    @host.route("/async", methods=["GET", "POST"])
    @active_account_required
    @account_required
    async def async_view() -> dict[str, Any]:
        return {"id": current_account.id}

    @host.route("/optional", methods=["GET", "POST"])
    @account_optional
    def optional_view() -> dict[str, Any]:
        return {"id": current_account.id if current_account else None}

    @host.get("/root")
    @superuser_required
    def root_view() -> str:
        return "root"

    @host.get("/fresh")
    @fresh_required(minutes=5)
    def fresh_view() -> str:
        return "fresh"

    @host.get("/mfa")
    @mfa_required
    def mfa_view() -> str:
        return "with MFA"
