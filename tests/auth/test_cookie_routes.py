"""Which routes there are for cookies, which set one, and what the document says of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from app.auth.sign_in.by_host import sign_in, sign_out_here
from app.core.errors import SetupError
from app.core.web.operation import find_operation
from app.testing.client import Api

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.cookie_browsers import HOST, NAME, OWN, BareClient, CookieBrowser
from ..rigs.routes import api_rules

# Those that sign in or out by a cookie, and the one on which a sign-in at a provider begins.
THAT_SET_ONE = re.compile(r".*/(session(/\w+)?|idp/login)")


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


def test_no_other_route_sets_a_cookie(app: Flask, ada: Person, person: MakePerson) -> None:
    """Whoever asks: a client with a token, and nobody; with what the document shows as a body."""
    answered: dict[int, int] = {}
    for rule in api_rules(app):
        found = find_operation(app.view_functions[rule.endpoint])
        if found is None or THAT_SET_ONE.fullmatch(rule.rule):
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
        # Some end what their caller has, or the caller.
        somebody = person(f"somebody{sum(answered.values())}")
        token = {"Authorization": f"Bearer {somebody.token()}"}
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            for headers in (OWN, OWN | token):
                response = app.test_client().open(
                    path, method=method, headers=headers, base_url=HOST, **sent
                )
                assert "Set-Cookie" not in response.headers, f"{method} {path}"
                status = response.status_code
                answered[status] = answered.get(status, 0) + 1
    assert answered[200] > 15
    assert sum(answered.values()) > 80


def test_a_login_sets_none_and_pays_no_heed_to_one(app: Flask, ada: Person) -> None:
    browser = CookieBrowser(app)
    browser.sign_in(ada)
    held = browser.cookie
    form = {"username": ada.email, "password": PASSWORD}
    answer = browser.post("/login", data=form, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.json["access_token"]
    assert "Set-Cookie" not in answer.headers
    BareClient(app).post("/login", data=form, headers={"Cookie": f"{NAME}=rubbish"})
    assert browser.cookie == held
    browser.get("/account")


@pytest.mark.parametrize("sessions", ["off", "on"])
def test_where_the_door_is_shut_there_is_none(
    make_app: MakeApp, person: MakePerson, sessions: str
) -> None:
    app = make_app(AUTH__SESSIONS=sessions)
    browser = CookieBrowser(app)
    for method in ("GET", "POST", "DELETE"):
        browser.send(method, "/session", 404)
    document = browser.get("/openapi.json").json
    assert "cookie" not in document["components"]["securitySchemes"]
    assert "cross_site" not in str(document)
    # What is held from before opens nothing, and is in nobody's way.
    bare, token = BareClient(app), person("ada", into=app).token()
    assert bare.ask(f"{NAME}={'A' * 64}", 401).json["code"] == "invalid_credentials"
    headers = {"Cookie": f"{NAME}={'A' * 64}", "Authorization": f"Bearer {token}"}
    bare.patch("/account", json={}, headers=headers | {"Sec-Fetch-Site": "cross-site"})


def test_a_host_is_told_that_the_door_is_shut(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__SESSIONS="on")
    ada = person("ada", into=app)
    with app.test_request_context():
        for act in (lambda: sign_in(ada, by=("host",), by_cookie=True), sign_out_here):
            with pytest.raises(SetupError, match="COOKIE_SESSIONS is off"):
                act()


def test_a_listed_client_reads_what_it_gets_by_cookie_and_nobody_else_does(
    app: Flask, ada: Person
) -> None:
    browser = CookieBrowser(app)
    browser.sign_in(ada)
    allowed = "Access-Control-Allow-Origin"
    for origin, answered in (("http://localhost:3000", True), ("https://blog.localhost", False)):
        headers = {"Origin": origin, "Sec-Fetch-Site": "same-site"}
        answer = browser.get("/account", headers=headers).headers
        assert answer.get(allowed) == (origin if answered else None)
        assert ("Access-Control-Allow-Credentials" in answer) is answered


def test_the_document_tells_of_it(app: Flask) -> None:
    document = Api(app).get("/openapi.json").json
    scheme = document["components"]["securitySchemes"]["cookie"]
    assert scheme == {"type": "apiKey", "in": "cookie", "name": NAME}
    paths = document["paths"]
    account = paths["/api/v1/account"]
    assert {"cookie": []} in account["get"]["security"]
    assert {"cookie": []} in account["patch"]["security"]
    assert paths["/api/v1/login"]["post"]["security"] == []
    assert "cross_site" in refusals(account["patch"])
    assert "cross_site" not in refusals(account["get"])
    assert "cross_site" not in refusals(paths["/api/v1/login"]["post"])
    assert "cross_site" in refusals(paths["/api/v1/session"]["post"])
    assert "cross_site" in refusals(paths["/api/v1/session"]["delete"])


def refusals(operation: dict[str, Any]) -> set[str]:
    told = operation["responses"].get("403", {}).get("content", {})
    return set(told.get("application/problem+json", {}).get("examples", {}))
