"""Frontdesk leaves the application's settings, extensions, handlers, tokens and cookies
unchanged."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import date
from typing import Any

import jwt
import pytest
from flask import Flask, Response, jsonify
from flask_jwt_extended import (
    JWTManager,
    create_access_token,
    get_jwt_identity,
    jwt_required,
    set_access_cookies,
)
from flask_sqlalchemy import SQLAlchemy

from app import Frontdesk
from app.accounts.account import Account
from app.blueprints import admin_notifications, auth, health, notifications, profiles, workspaces
from app.testing.client import Api
from app.testing.people import PASSWORD, make_person

from ..rigs.hosts import HostSettings, plain_app

BLUEPRINTS = (auth, health, workspaces, profiles, notifications, admin_notifications)
KEY = "the key that the host signs its own tokens with, long enough for HS512 too"


def mount_frontdesk(host: Flask, db: SQLAlchemy) -> None:
    """Mount every blueprint in an application that is already configured."""
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    frontdesk.init_app(host, db, settings=HostSettings(), account_model=Account)
    for blueprint in BLUEPRINTS:
        host.register_blueprint(blueprint, url_prefix=f"/desk/{blueprint.name}")
    with host.app_context():
        db.create_all()


def state_of(host: Flask) -> dict[str, Any]:
    handlers = host.error_handler_spec[None]
    return {
        "config": deepcopy(dict(host.config)),
        "extensions": set(host.extensions),
        "error handlers": {kind: code for code, kinds in handlers.items() for kind in kinds},
        "context processors": len(host.template_context_processors[None]),
        "globals": set(host.jinja_env.globals),
        "filters": set(host.jinja_env.filters),
        "session": type(host.session_interface),
        "json": type(host.json),
        "own rules": [str(rule) for rule in host.url_map.iter_rules() if "." not in rule.endpoint],
        "strict slashes": (host.url_map.strict_slashes, host.url_map.merge_slashes),
    }


def test_application_state_is_unchanged() -> None:
    host, db = plain_app(SECRET_KEY=KEY)
    before = state_of(host)
    mount_frontdesk(host, db)
    after = state_of(host)
    # Frontdesk adds only these handlers, extensions and template globals.
    added = after["error handlers"].keys() - before["error handlers"].keys()
    assert [kind.__name__ for kind in added] == ["Problem"]
    assert after["extensions"] - before["extensions"] == {"frontdesk", "mail"}
    assert after["globals"] - before["globals"] == {"frontdesk_inbox_url"}
    for what in before.keys() - {"error handlers", "extensions", "globals"}:
        assert after[what] == before[what], what


def test_flask_jwt_extended_settings_of_the_application_are_ignored() -> None:
    config = {"JWT_SECRET_KEY": KEY, "JWT_ALGORITHM": "HS512", "JWT_IDENTITY_CLAIM": "who"}
    host, db = plain_app(**config, JWT_ENCODE_ISSUER="the host", JWT_ENCODE_NBF=True)
    JWTManager(host).additional_claims_loader(lambda _: {"application_token": True})
    mount_frontdesk(host, db)
    token = make_person(host, "ada").token()
    claims = jwt.decode(token, HostSettings.SECRET_KEY, ["HS256"])
    assert claims["sub"] == "ada@example.com"
    assert claims.keys().isdisjoint({"application_token", "iss", "nbf", "who", "csrf"})
    with host.app_context():
        application_token = jwt.decode(create_access_token("7"), KEY, ["HS512"])
    assert (
        application_token["who"],
        application_token["application_token"],
        application_token["iss"],
    ) == ("7", True, "the host")
    assert host.config["JWT_COOKIE_CSRF_PROTECT"] is True


def manager_first(host: Flask, db: SQLAlchemy) -> None:
    JWTManager(host)
    mount_frontdesk(host, db)


def manager_last(host: Flask, db: SQLAlchemy) -> None:
    mount_frontdesk(host, db)
    JWTManager(host)


@pytest.fixture(params=[manager_first, manager_last])
def host(request: pytest.FixtureRequest) -> Flask:
    """An application with cookies of Flask-JWT-Extended, set up before or after Frontdesk."""
    host, db = plain_app(
        JWT_SECRET_KEY=KEY, JWT_TOKEN_LOCATION=["cookies"], JWT_COOKIE_SECURE=False
    )
    set_up: Callable[[Flask, SQLAlchemy], None] = request.param
    set_up(host, db)

    @host.post("/own/enter")
    def log_in() -> Response:
        response = jsonify()
        set_access_cookies(response, create_access_token("7"))
        return response

    @host.post("/own/buy")
    @jwt_required()  # type: ignore[untyped-decorator]
    def buy() -> str:
        return f"bought by {get_jwt_identity()}"

    return host


def test_application_cookies_still_need_their_csrf_token(host: Flask) -> None:
    client = host.test_client()
    client.post("/own/enter")
    assert client.post("/own/buy").status_code == 401
    cookie = client.get_cookie("csrf_access_token")
    assert cookie is not None
    bought = client.post("/own/buy", headers={"X-CSRF-TOKEN": cookie.value})
    assert bought.text == "bought by 7"


def test_tokens_of_frontdesk_and_the_application_are_not_interchangeable(host: Flask) -> None:
    ada = make_person(host, "ada")
    login = {"username": ada.email, "password": PASSWORD}
    frontdesk_token = Api(host, "/desk/auth").post("/login", data=login).json["access_token"]
    with host.app_context():
        application_token = create_access_token(ada.email)
    Api(host, "/desk/auth", frontdesk_token).get("/account")
    Api(host, "/desk/auth", application_token).get("/account", 401)
    client = host.test_client()
    client.set_cookie("access_token_cookie", frontdesk_token)
    assert client.post("/own/buy", headers={"X-CSRF-TOKEN": "x"}).status_code == 422


def test_pyjwt_error_in_an_application_view_is_not_handled() -> None:
    host, db = plain_app()
    mount_frontdesk(host, db)
    host.add_url_rule("/own", "own", lambda: jwt.decode("a.b.c", KEY, ["HS256"]))
    assert host.test_client().get("/own").status_code == 500


def test_claims_are_serialized_by_the_applications_json_provider() -> None:
    frontdesk = Frontdesk()
    frontdesk.claims(lambda account, session: {"since": date(2030, 1, 1)})
    host, db = plain_app()
    frontdesk.init_app(host, db, settings=HostSettings(), account_model=Account)
    with host.app_context():
        db.create_all()
    token = make_person(host, "ada").token()
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["since"] == "Tue, 01 Jan 2030 00:00:00 GMT"
