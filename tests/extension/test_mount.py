"""`frontdesk.mount` mounts blueprints at the service's prefixes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app import Frontdesk, SetupError
from app.accounts.account import Account
from app.auth.settings import AuthSettings
from app.blueprints import administration, workspaces
from app.frontdesk import _PREFIXES

from ..conftest import MakeApp, only_on
from ..rigs.cases import for_each
from ..rigs.hosts import HostSettings, host_with, plain_app
from ..rigs.routes import api_rules

# All routes of the service with every feature, before the blueprints could be mounted in one call.
ROUTES = Path(__file__).with_name("service_routes.txt").read_text().splitlines()
PROVIDERS = {"a": {"kind": "google", "client_id": "a", "client_secret": "a"}}
ON = {
    "SESSIONS": "on",
    "COOKIE_SESSIONS": "on",
    "MFA": "optional",
    "PASSKEYS": "on",
    "LOGIN_BY_CODE": "on",
    "ACCOUNT_EXPORTS": "on",
    "PERSONAL_TOKENS": "on",
}


def routes(app: Flask) -> set[str]:
    return {
        f"{method} {rule.rule}"
        for rule in api_rules(app)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.endpoint != "static"
    }


@only_on("sqlite")
def test_service_keeps_its_routes(make_app: MakeApp) -> None:
    on = {**ON, "PROVIDERS": json.dumps(PROVIDERS)}
    app = make_app(**{f"AUTH__{name}": value for name, value in on.items()})
    assert routes(app) == set(ROUTES)


def host(*names: str, prefix: str = "/api", **auth: Any) -> Flask:
    app, db = plain_app()
    app.secret_key = "the session's own secret"
    settings = HostSettings()
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=4, **auth)
    frontdesk = Frontdesk()
    frontdesk.init_app(app, db, settings=settings, account_model=Account)
    frontdesk.mount(app, prefix, only=names or None)
    return app


def test_application_mounts_what_its_settings_enable() -> None:
    # The sample resource is only for the service, and the keys are outside of the API.
    own = {route for route in ROUTES if "/tasks" not in route and "/.well-known" not in route}
    assert routes(host(prefix="/api/v1/", **ON, PROVIDERS=PROVIDERS)) == own
    paths = {each.partition(" ")[2] for each in routes(host())}
    assert not {"/api/sessions", "/api/authenticators", "/api/login/code"} & paths
    assert "/api/admin/accounts/" in paths


def test_application_mounts_only_the_named_blueprints() -> None:
    assert host("auth", "workspaces").blueprints.keys() == {"auth", "workspaces"}
    assert "workspace_profiles" in host("profiles", "workspaces").blueprints
    assert "GET /api/workspaces/<workspace_slug>/events" in routes(host("workspaces"))


def test_unknown_blueprint_is_an_error() -> None:
    with pytest.raises(SetupError, match="no blueprint accounts, only auth, registration"):
        host("accounts")


@for_each(
    ("name", "setting"),
    [
        ("sessions", "set AUTH.SESSIONS to `on`."),
        ("mfa", "set AUTH.MFA to `optional` or `required`."),
        ("passkeys", "set AUTH.PASSKEYS to `on`."),
        ("login_codes", "set AUTH.LOGIN_BY_CODE to `on`."),
        ("tokens", "set AUTH.PERSONAL_TOKENS to `on`."),
    ],
)
def test_disabled_blueprint_names_the_setting_to_change(name: str, setting: str) -> None:
    with pytest.raises(SetupError) as caught:
        host(name)
    assert str(caught.value) == f"The blueprint '{name}' cannot be mounted: {setting}"


def test_every_other_blueprint_can_be_mounted_with_default_settings() -> None:
    others = set(_PREFIXES) - {"sessions", "mfa", "passkeys", "login_codes", "tokens"}
    assert len(others) == 16
    assert host(*others).blueprints.keys() >= others


def test_blueprint_without_an_account_model_names_the_argument() -> None:
    app, db = plain_app()
    frontdesk = Frontdesk()
    frontdesk.init_app(app, db, settings=HostSettings())
    with pytest.raises(SetupError, match="pass account_model=, a mapped class"):
        frontdesk.mount(app, only=["auth"])


def test_mounted_exports_are_off_by_their_setting() -> None:
    app = host("auth", "exports")
    for method, path in (("POST", ""), ("GET", "/1"), ("GET", "/1/file")):
        answer = app.test_client().open(f"/api/account/exports{path}", method=method)
        assert (answer.status_code, (answer.json or {})["code"]) == (404, "feature_off")
    # A path that is not mounted is the application's own 404.
    assert "text/html" in app.test_client().get("/api/sessions").headers["Content-Type"]


def test_routes_follow_the_prefix_of_their_resource() -> None:
    settings = HostSettings()
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=4, **ON)
    paths = routes(
        host_with((administration, "/people"), (workspaces, "/rooms"), settings=settings)
    )
    assert {
        "GET /people/<account_id:account_id>/sessions",
        "DELETE /people/<account_id:account_id>/authenticators",
        "GET /rooms/<workspace_slug>/events",
    } <= paths
    plain = routes(host_with((administration, "/people")))
    assert not any("sessions" in path or "authenticators" in path for path in plain)
