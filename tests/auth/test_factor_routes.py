"""MFA routes: access, malformed input, and the OpenAPI document."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.core.web.operation import find_operation
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..core.test_access_matrix import UNAUTHENTICATED, cases, make_olga, rows
from ..core.test_access_matrix import mallory as mallory
from ..rigs.cases import for_each
from .factors import Enrolled, challenge, enrolled

# Malformed values for any field.
MALFORMED: list[Any] = [
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


@for_each("caller", UNAUTHENTICATED)
def test_unauthenticated_requests_are_rejected_and_write_nothing(
    app: Flask, olga: Person, mallory: Person, caller: str
) -> None:
    token = UNAUTHENTICATED[caller](mallory)
    before, requests = rows(app), 0
    for case in cases(app):
        if is_mfa_route(app, case.path, case.method):
            assert case.send(app, token).status == 401, case[:2]
            requests += 1
    assert rows(app) == before
    assert requests >= 8


def test_other_users_authenticators_are_not_accessible(
    app: Flask, olga: Person, person: MakePerson, clock: SteppingClock
) -> None:
    token = enrolled(person("mallory"), clock).api.token
    before, requests = rows(app), 0
    for case in cases(app):
        if is_mfa_route(app, case.path, case.method) and case.is_about_others:
            assert case.send(app, token).status in (403, 404), case[:2]
            requests += 1
    assert rows(app) == before
    assert requests >= 4


def is_mfa_route(app: Flask, path: str, method: str) -> bool:
    endpoint, _ = app.url_map.bind("localhost").match(path, method=method)
    return str(endpoint).startswith(("mfa.", "administration.reset_authenticators"))


@only_on("sqlite")
def test_malformed_input_is_never_a_server_error(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    mfa = enrolled(ada, clock)
    valid = {"mfa_token": challenge(api, ada), "otp": "123456", "recovery_code": "abcd-efgh"}
    routes = {
        ("POST", "/login/mfa"): (*valid, "credential", "trust"),
        ("POST", "/authenticators/totp"): ("name", "mfa_token"),
        ("POST", "/authenticators/1/confirm"): ("otp", "mfa_token"),
        ("PATCH", "/authenticators/1"): ("name",),
    }
    sent = 0
    for (method, path), fields in routes.items():
        for value in MALFORMED:
            for body in (value, *({**valid, field: value} for field in fields)):
                for caller in (api, mfa.api):
                    headers = {"Authorization": f"Bearer {caller.token}"} if caller.token else {}
                    answer = api.client.open(
                        f"{api.prefix}{path}", method=method, json=body, headers=headers
                    )
                    assert answer.status_code < 500, (method, path, body)
                    sent += 1
    assert sent > 400


@pytest.fixture
def mfa(ada: Person, clock: SteppingClock) -> Enrolled:
    return enrolled(ada, clock)


@only_on("sqlite")
@for_each("number", ["0", "-1", "9223372036854775808", "1_0", "\u0663", "x", "1.0"])
def test_unknown_authenticator_number_is_not_found(mfa: Enrolled, number: str) -> None:
    mfa.api.delete(f"/authenticators/{number}", 404)
    mfa.api.delete(f"/trusted-devices/{number}", 404)


def test_openapi_document_lists_mfa_codes_of_every_sign_in_route(
    make_app: MakeApp, app: Flask, api: Api
) -> None:
    def codes(client: Api, path: str) -> set[str]:
        answer = client.get("/openapi.json").json
        schemas = answer["components"]["schemas"]
        operation = answer["paths"][f"/api/v1{path}"]["post"]["operationId"]
        name = f"{operation[0].upper()}{operation[1:]}ProblemCode"
        return set(schemas[name]["enum"])

    mfa_codes = {"mfa_required", "mfa_enrolment_required", "incorrect_code"}
    for path in ("/login", "/registration", "/account/email/confirm", "/idp/callback"):
        assert codes(api, path) >= mfa_codes
    assert not codes(Api(make_app()), "/login") & mfa_codes
    answer = api.get("/openapi.json").json
    assert "otp" in answer["components"]["schemas"]["LoginFormWithFactor"]["properties"]
    undocumented = [
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("mfa.")
        and not getattr(find_operation(app.view_functions[rule.endpoint]), "guard", None)
    ]
    assert undocumented == []


def test_disabled_mfa_has_no_routes_and_no_fields(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app()
    here = person("ada", into=app).api()
    for path in ("/login/mfa", "/authenticators/totp", "/recovery-codes"):
        here.post(path, 404, json={})
    here.get("/authenticators", 404)
    # `/login` ignores unknown fields, so `otp` is accepted and ignored.
    form = {"username": "ada@example.com", "password": PASSWORD, "otp": "x" * 100}
    here.post("/login", data=form)


def test_passkeys_without_mfa_only_list_authenticators(
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
        assert here.send(method, path, 404, json=body).json["code"] == "feature_off"
