"""Cookie sessions: their routes, the routes that set a cookie, and the OpenAPI document."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from app.core.errors import SetupError
from app.core.web.operation import find_operation
from app.extension.application_sign_in import sign_in, sign_out_here
from app.testing.client import Api

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.cookie_browsers import HOST, NAME, SAME_ORIGIN, CookieBrowser, RawCookieClient
from ..rigs.routes import api_rules

# The routes that sign in or out by cookie, and the route that starts sign-in at a provider.
SETS_COOKIE = re.compile(r".*/(session(/\w+)?|idp/login)")


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(
        AUTH__COOKIE_SESSIONS="on",
        AUTH__REGISTRATION="open",
        AUTH__ACCOUNT_DELETION="on",
        AUTH__RATE_LIMITS_ENABLED="false",
        AUTH__MFA="optional",
        AUTH__PASSKEYS="on",
        AUTH__LOGIN_BY_CODE="on",
        AUTH__REFRESH_TOKEN_DAYS="14",
    )


def test_other_routes_set_no_cookie(app: Flask, ada: Person, person: MakePerson) -> None:
    """Call each route with and without a token, with the document's example as the body."""
    statuses: dict[int, int] = {}
    for rule in api_rules(app):
        found = find_operation(app.view_functions[rule.endpoint])
        if found is None or SETS_COOKIE.fullmatch(rule.rule):
            continue
        words = dict.fromkeys(("workspace_slug", "name", "filename"), "a")
        values = {name: words.get(name, 1) for name in rule.arguments}
        urls = app.url_map.bind("localhost")
        path = urls.build(rule.endpoint, values, method=min(rule.methods or ()))
        sent: dict[str, Any] = {
            "json" if place == "json" else "data": found.examples[place]
            for place in ("json", "form")
            if place in found.examples
        }
        # Some routes end the session or the account, so each route gets its own user.
        user = person(f"user{sum(statuses.values())}")
        token = {"Authorization": f"Bearer {user.token()}"}
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            for headers in (SAME_ORIGIN, SAME_ORIGIN | token):
                response = app.test_client().open(
                    path, method=method, headers=headers, base_url=HOST, **sent
                )
                assert "Set-Cookie" not in response.headers, f"{method} {path}"
                status = response.status_code
                statuses[status] = statuses.get(status, 0) + 1
    assert statuses[200] > 15
    assert sum(statuses.values()) > 80


def test_login_sets_no_cookie_and_ignores_the_existing_cookie(app: Flask, ada: Person) -> None:
    browser = CookieBrowser(app)
    browser.sign_in(ada)
    cookie = browser.cookie
    form = {"username": ada.email, "password": PASSWORD}
    answer = browser.post("/login", data=form, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.json["access_token"]
    assert "Set-Cookie" not in answer.headers
    RawCookieClient(app).post("/login", data=form, headers={"Cookie": f"{NAME}=rubbish"})
    assert browser.cookie == cookie
    browser.get("/account")


@pytest.mark.parametrize("sessions", ["off", "on"])
def test_disabled_cookie_sessions_have_no_routes(
    make_app: MakeApp, person: MakePerson, sessions: str
) -> None:
    app = make_app(AUTH__SESSIONS=sessions)
    browser = CookieBrowser(app)
    for method in ("GET", "POST", "DELETE"):
        browser.send(method, "/session", 404)
    document = browser.get("/openapi.json").json
    assert "cookie" not in document["components"]["securitySchemes"]
    assert "cross_site" not in str(document)
    # A cookie from before the setting changed neither authenticates nor causes an error.
    bare, token = RawCookieClient(app), person("ada", into=app).token()
    assert bare.ask(f"{NAME}={'A' * 64}", 401).json["code"] == "invalid_credentials"
    headers = {"Cookie": f"{NAME}={'A' * 64}", "Authorization": f"Bearer {token}"}
    bare.patch("/account", json={}, headers=headers | {"Sec-Fetch-Site": "cross-site"})


def test_sign_in_by_cookie_raises_where_cookie_sessions_are_off(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(AUTH__SESSIONS="on")
    ada = person("ada", into=app)
    with app.test_request_context():
        for act in (lambda: sign_in(ada, by=("host",), by_cookie=True), sign_out_here):
            with pytest.raises(SetupError, match="COOKIE_SESSIONS to `on`"):
                act()


def test_only_allowed_origins_read_responses_to_cookie_requests(app: Flask, ada: Person) -> None:
    browser = CookieBrowser(app)
    browser.sign_in(ada)
    allowed = "Access-Control-Allow-Origin"
    for origin, statuses in (("http://localhost:3000", True), ("https://blog.localhost", False)):
        headers = {"Origin": origin, "Sec-Fetch-Site": "same-site"}
        answer = browser.get("/account", headers=headers).headers
        assert answer.get(allowed) == (origin if statuses else None)
        assert ("Access-Control-Allow-Credentials" in answer) is statuses


def test_openapi_document_describes_the_cookie(app: Flask) -> None:
    document = Api(app).get("/openapi.json").json
    scheme = document["components"]["securitySchemes"]["cookie"]
    assert scheme == {"type": "apiKey", "in": "cookie", "name": NAME}
    paths = document["paths"]
    account = paths["/api/v1/account"]
    assert {"cookie": []} in account["get"]["security"]
    assert {"cookie": []} in account["patch"]["security"]
    assert paths["/api/v1/login"]["post"]["security"] == []
    assert "cross_site" in error_codes(account["patch"])
    assert "cross_site" not in error_codes(account["get"])
    assert "cross_site" not in error_codes(paths["/api/v1/login"]["post"])
    assert "cross_site" in error_codes(paths["/api/v1/session"]["post"])
    assert "cross_site" in error_codes(paths["/api/v1/session"]["delete"])


def error_codes(operation: dict[str, Any]) -> set[str]:
    content = operation["responses"].get("403", {}).get("content", {})
    return set(content.get("application/problem+json", {}).get("examples", {}))
