"""Routes of features that a setting disables: 404 `feature_off`, and the log names the setting."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator

import pytest
from flask import Flask

from app.extension.feature_routes import ROUTES
from app.testing.client import Api
from scripts.feature_routes import OFF, TABLE, table

from ..conftest import MakeApp, MakePerson, only_on
from ..rigs.cases import for_each
from ..rigs.routes import api_rules

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ON = {
    "AUTH__SESSIONS": "on",
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__MFA": "optional",
    "AUTH__PASSKEYS": "on",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__PERSONAL_TOKENS": "on",
    "AUTH__PROVIDERS": '{"a": {"kind": "google", "client_id": "a", "client_secret": "a"}}',
    "AUTH__ACCOUNT_EXPORTS": "on",
    "AUTH__ACCOUNT_DELETION": "on",
}
NONE = {"TASKS__ENABLED": "false"}


def paths(app: Flask) -> set[str]:
    rules = [rule.rule for rule in api_rules(app) if rule.rule.startswith("/api/v1/")]
    return {
        re.sub(r"<[^>]+>", "*", rule.removeprefix("/api/v1").rstrip("/") or "/") for rule in rules
    }


def test_table_of_feature_routes_is_current() -> None:
    assert TABLE.read_text() == table(), "run `make features`"


@only_on("sqlite")
def test_table_has_every_path_that_settings_add(make_app: MakeApp) -> None:
    everything, nothing = paths(make_app(**ON)), paths(make_app(**NONE))
    assert {path for path, _ in ROUTES} == everything - nothing
    assert nothing < everything


class Entries(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.settings: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.settings.append(record.__dict__["fields"].get("setting"))


@pytest.fixture
def logged() -> Iterator[Entries]:
    """The settings that the entries of the security log name."""
    entries, log = Entries(), logging.getLogger("frontdesk.security")
    level = log.level
    log.addHandler(entries)
    log.setLevel("INFO")
    yield entries
    log.removeHandler(entries)
    log.setLevel(level)


@only_on("sqlite")
def test_disabled_route_is_a_404_for_every_method(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(**NONE)
    clients = Api(app), person("root", into=app, role="root").api()
    for path, _ in ROUTES:
        for method in METHODS:
            for client in clients:
                for end in ("", "/"):
                    answer = client.send(method, path.replace("*", "1") + end, 404)
                    assert answer.json["code"] == "feature_off", f"{method} {path}"
                    assert "AUTH__" not in answer.response.text


@only_on("sqlite")
@pytest.mark.parametrize("name", OFF)
def test_log_names_the_setting(make_app: MakeApp, name: str, logged: Entries) -> None:
    namespace = name.partition("__")[0]
    off = {f"{namespace}__{key}": env(value) for key, value in OFF[name].items()}
    api = Api(make_app(**{**ON, **off}))
    path = next(path for path, names in ROUTES if names == name)
    api.post(path.replace("*", "1"), 404)
    assert logged.settings == [name]


def env(value: object) -> str:
    return str(value).replace("'", '"')


@only_on("sqlite")
def test_enabled_route_is_never_disabled(make_app: MakeApp) -> None:
    api = Api(make_app(**ON))
    for path, _ in ROUTES:
        for method in METHODS:
            answer = api.client.open(f"/api/v1{path.replace('*', '1')}", method=method)
            assert '"feature_off"' not in answer.text, f"{method} {path}"


def test_path_that_no_feature_has_is_not_found(api: Api) -> None:
    for path in ("/nowhere", "/sessions/1/2", "/sessionsx", "/account/exports/1/file/2"):
        assert api.get(path, 404).json["code"] == "not_found"
    outside = Api(api.app, "")
    assert outside.get("/sessions", 404).json["code"] == "not_found"


def test_preflight_of_a_disabled_route_succeeds(api: Api) -> None:
    headers = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "GET"}
    api.send("OPTIONS", "/sessions", 204, headers=headers)


@for_each("token", [True, False])
def test_only_the_disabled_method_of_a_path_is_off(
    api: Api, person: MakePerson, logged: Entries, token: bool
) -> None:
    client = person("bob").api() if token else api
    logged.settings.clear()
    assert client.delete("/account", 404).json["code"] == "feature_off"
    assert logged.settings == ["AUTH__ACCOUNT_DELETION"]
    client.get("/account", 200 if token else 401)
    # An account that was deleted before can still be restored.
    assert client.post("/account/restore", 400, json={"token": "x" * 40}).json["code"] == (
        "invalid_token"
    )


@only_on("sqlite")
def test_mfa_method_that_is_off_is_off_before_authentication(
    make_app: MakeApp, logged: Entries
) -> None:
    api = Api(make_app(AUTH__MFA="optional", AUTH__MFA_METHODS='["passkey"]'))
    assert api.post("/authenticators/totp", 404, json={}).json["code"] == "feature_off"
    assert logged.settings == ["AUTH__MFA_METHODS"]


@only_on("sqlite")
def test_table_is_loaded_only_after_a_404(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "app.extension.feature_routes"
    monkeypatch.delitem(sys.modules, name)
    api = Api(make_app())
    api.get("/health")
    api.get("/account", 401)
    assert name not in sys.modules
    features = [each for each in sys.modules if each.startswith("app.auth.passkeys")]
    api.post("/login/passkey", 404)
    assert name in sys.modules
    assert [each for each in sys.modules if each.startswith("app.auth.passkeys")] == features
