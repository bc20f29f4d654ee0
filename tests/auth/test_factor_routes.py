"""The routes of second factors: who may enter, what may be sent, what the document says."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.core.web.operation import find_operation
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..core.test_matrix import REFUSED, cells, make_olga, rows
from ..core.test_matrix import mallory as mallory
from ..rigs.cases import for_each
from .factors import Enrolled, challenge, enrolled

# As what is sent where something else is asked for.
ODD: list[Any] = [
    None,
    0,
    -1,
    2**63,
    1e308,
    True,
    "",
    " ",
    "\x00",
    "\ud800",
    "x" * 5000,
    "١٢٣٤٥٦",
    [],
    ["123456"],
    {},
    {"otp": "123456"},
    "a.b.c",
    ".eJwz",
    "W10.aaaaaa.bbbbbb",
]


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(
        AUTH__MFA="optional",
        AUTH__MFA_METHODS='["totp"]',
        AUTH__MFA_TRUST_DAYS="30",
        AUTH__RATE_LIMITS_ENABLED="false",
    )


@pytest.fixture
def olga(person: MakePerson, clock: SteppingClock) -> Person:
    olga = make_olga(person)
    enrolled(olga, clock)
    return olga


@for_each("caller", REFUSED)
def test_who_is_nobody_enters_nowhere_and_writes_nothing(
    app: Flask, olga: Person, mallory: Person, caller: str
) -> None:
    token = REFUSED[caller](mallory)
    before, asked = rows(app), 0
    for cell in cells(app):
        if is_ours(app, cell.path, cell.method):
            assert cell.ask(app, token).status == 401, cell[:2]
            asked += 1
    assert rows(app) == before
    assert asked >= 8


def test_a_stranger_gets_nothing_of_what_is_anothers(
    app: Flask, olga: Person, person: MakePerson, clock: SteppingClock
) -> None:
    token = enrolled(person("mallory"), clock).api.token
    before, asked = rows(app), 0
    for cell in cells(app):
        if is_ours(app, cell.path, cell.method) and cell.is_about_others:
            assert cell.ask(app, token).status in (403, 404), cell[:2]
            asked += 1
    assert rows(app) == before
    assert asked >= 4


def is_ours(app: Flask, path: str, method: str) -> bool:
    endpoint, _ = app.url_map.bind("localhost").match(path, method=method)
    return str(endpoint).startswith("mfa.")


@only_on("sqlite")
def test_whatever_is_sent_nothing_breaks(ada: Person, api: Api, clock: SteppingClock) -> None:
    has = enrolled(ada, clock)
    right = {"mfa_token": challenge(api, ada), "otp": "123456", "recovery_code": "abcd-efgh"}
    routes = {
        ("POST", "/login/mfa"): (*right, "credential", "trust"),
        ("POST", "/authenticators/totp"): ("name", "mfa_token"),
        ("POST", "/authenticators/1/confirm"): ("otp", "mfa_token"),
        ("PATCH", "/authenticators/1"): ("name",),
    }
    sent = 0
    for (method, path), fields in routes.items():
        for odd in ODD:
            for body in (odd, *({**right, field: odd} for field in fields)):
                for caller in (api, has.api):
                    headers = {"Authorization": f"Bearer {caller.token}"} if caller.token else {}
                    answer = api.client.open(
                        f"{api.prefix}{path}", method=method, json=body, headers=headers
                    )
                    assert answer.status_code < 500, (method, path, body)
                    sent += 1
    assert sent > 400


@pytest.fixture
def has(ada: Person, clock: SteppingClock) -> Enrolled:
    return enrolled(ada, clock)


@only_on("sqlite")
@for_each("number", ["0", "-1", "9223372036854775808", "1_0", "\u0663", "x", "1.0"])
def test_a_number_that_nothing_has_is_not_found(has: Enrolled, number: str) -> None:
    has.api.delete(f"/authenticators/{number}", 404)
    has.api.delete(f"/trusted-devices/{number}", 404)


def test_the_document_says_what_every_way_in_may_answer(
    make_app: MakeApp, app: Flask, api: Api
) -> None:
    def codes(of: Api, path: str) -> set[str]:
        answer = of.get("/openapi.json").json
        schemas = answer["components"]["schemas"]
        operation = answer["paths"][f"/api/v1{path}"]["post"]["operationId"]
        name = f"{operation[0].upper()}{operation[1:]}ProblemCode"
        return set(schemas[name]["enum"])

    ours = {"mfa_required", "mfa_enrolment_required", "incorrect_code"}
    for path in ("/login", "/registration", "/account/email/confirm", "/idp/callback"):
        assert codes(api, path) >= ours
    assert not codes(Api(make_app()), "/login") & ours
    answer = api.get("/openapi.json").json
    assert "otp" in answer["components"]["schemas"]["LoginFormWithFactor"]["properties"]
    silent = [
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("mfa.")
        and not getattr(find_operation(app.view_functions[rule.endpoint]), "guard", None)
    ]
    assert silent == []


def test_where_all_is_off_there_is_no_such_route_and_no_such_field(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app()
    here = person("ada", into=app).api()
    for path in ("/login/mfa", "/authenticators/totp", "/recovery-codes"):
        here.post(path, 404, json={})
    here.get("/authenticators", 404)
    # As before, what a form has beside is passed over.
    form = {"username": "ada@example.com", "password": PASSWORD, "otp": "x" * 100}
    here.post("/login", data=form)


def test_where_passkeys_alone_are_on_they_are_listed_and_nothing_else_is_there(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(AUTH__PASSKEYS="on")
    here = person("ada", into=app).api()
    assert here.get("/authenticators").json == []
    step = {"mfa_token": "x", "otp": "123456"}
    for method, path, body in (
        ("POST", "/login/mfa", step),
        ("POST", "/authenticators/totp", {}),
        ("POST", "/recovery-codes", {}),
        ("GET", "/recovery-codes", None),
        ("GET", "/trusted-devices", None),
    ):
        assert here.send(method, path, 403, json=body).json["code"] == "mfa_off"
