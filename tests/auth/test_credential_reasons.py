"""`reason` and the header of a 401: why a token or a cookie is rejected, or that none was sent."""

from __future__ import annotations

import time

import pytest
from flask import Flask

from app.auth.errors import InactiveCaller, InvalidCredentials, LoggedOut, ReauthenticationRequired
from app.core.errors import REASONS, Unauthorized
from app.core.web.problems import problem_response
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock

from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..rigs.cookie_browsers import NAME, CookieBrowser, RawCookieClient
from .test_sessions import sid, sign_in
from .test_tokens import signed

SENT, NOT_SENT = 'Bearer error="invalid_token"', "Bearer"
SESSIONS = {"AUTH__SESSIONS": "on", "AUTH__COOKIE_SESSIONS": "on"}


def assert_reason(answer: Answer, reason: str, code: str = "invalid_credentials") -> None:
    assert (answer.json["reason"], answer.json["code"]) == (reason, code)
    header = NOT_SENT if reason == "missing" else SENT
    assert answer.headers["WWW-Authenticate"] == header


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**SESSIONS)


@pytest.fixture
def browser(app: Flask, ada: Person) -> CookieBrowser:
    browser = CookieBrowser(app)
    browser.sign_in(ada)
    return browser


def test_request_without_a_credential_is_missing(api: Api) -> None:
    assert_reason(api.get("/account", 401), "missing")


@only_on("sqlite")
def test_set_up_of_an_authenticator_without_a_credential_is_missing(make_app: MakeApp) -> None:
    api = Api(make_app(AUTH__MFA="optional"))
    assert_reason(api.post("/authenticators/totp", 401, json={}), "missing")


@pytest.fixture
def plain(make_app: MakeApp, person: MakePerson) -> Api:
    """A client of a service without sessions, in which Ada has an account."""
    app = make_app()
    person("ada", into=app)
    return Api(app)


@pytest.mark.parametrize("header", ["", "Bearer", "Basic YTpi", "Bearer x", "Bearer a.b.c"])
def test_header_without_a_token_is_malformed(plain: Api, header: str) -> None:
    answer = plain.get("/account", 401, headers={"Authorization": header})
    assert_reason(answer, "malformed")


def test_token_after_its_end_is_expired(plain: Api, clock: SteppingClock) -> None:
    token = sign_in(plain)
    token.get("/account")
    clock.step(minutes=31)
    assert_reason(token.get("/account", 401), "expired")


def test_token_of_a_signed_out_account_is_revoked(plain: Api) -> None:
    token = sign_in(plain)
    token.delete("/logout")
    assert_reason(token.get("/account", 401), "revoked", "token_expired")


def test_token_from_before_a_new_password_is_revoked(plain: Api, clock: SteppingClock) -> None:
    token = sign_in(plain)
    clock.step(minutes=1)
    new = {"current_password": PASSWORD, "new_password": "another long horse"}
    plain.as_token(sign_in(plain).token).put("/account/password", json=new)
    assert_reason(token.get("/account", 401), "revoked")


def test_any_other_token_is_invalid(plain: Api) -> None:
    for token in (
        signed("another secret, also long enough for HS256"),
        signed(aud="another-service"),
        signed(nbf=int(time.time()) + 3600),
        signed(exp=...),
    ):
        assert_reason(plain.as_token(token).get("/account", 401), "invalid")


def test_token_of_an_ended_session_is_revoked(api: Api, ada: Person) -> None:
    phone, laptop = sign_in(api), sign_in(api)
    laptop.delete(f"/sessions/{sid(phone)}")
    assert_reason(phone.get("/account", 401), "revoked")


def test_token_of_an_idle_session_is_expired(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    day = 24 * 60
    app = make_app(**SESSIONS, AUTH__ACCESS_TOKEN_EXPIRE_MINUTES=str(9 * day))
    person("ada", into=app)
    token = sign_in(Api(app))
    clock.step(days=8)
    assert_reason(token.get("/account", 401), "expired")


def test_credential_of_an_inactive_account_is_invalid(plain: Api) -> None:
    token = sign_in(plain)
    Person(plain.app, 1, "ada@example.com", PASSWORD, "").change(status="inactive")
    assert_reason(token.get("/notifications", 401), "invalid", "account_inactive")


def test_malformed_cookie_is_malformed(app: Flask) -> None:
    bare = RawCookieClient(app)
    assert_reason(bare.ask(f"{NAME}=abc", 401), "malformed")
    assert_reason(bare.ask(f"{NAME}={'A' * 64}; {NAME}={'A' * 64}", 401), "malformed")


def test_cookie_of_no_session_is_invalid(app: Flask) -> None:
    assert_reason(RawCookieClient(app).ask(f"{NAME}={'A' * 64}", 401), "invalid")


def test_cookie_of_an_ended_session_is_revoked(app: Flask, browser: CookieBrowser) -> None:
    copy = browser.cookie
    browser.delete("/session")
    assert_reason(RawCookieClient(app).ask(f"{NAME}={copy}", 401), "revoked")


def test_ended_session_is_told_only_to_the_owner_of_its_secret(
    app: Flask, browser: CookieBrowser
) -> None:
    copy = str(browser.cookie)
    browser.delete("/session")
    forged = copy[:40] + ("A" if copy[40] != "A" else "B") + copy[41:]
    assert_reason(RawCookieClient(app).ask(f"{NAME}={forged}", 401), "invalid")


def test_cookie_of_an_idle_session_is_expired(
    app: Flask, browser: CookieBrowser, clock: SteppingClock
) -> None:
    clock.step(days=8)
    assert_reason(RawCookieClient(app).ask(f"{NAME}={browser.cookie}", 401), "expired")


def test_step_up_keeps_its_header_and_has_no_reason(app: Flask) -> None:
    with app.app_context():
        answer = problem_response(ReauthenticationRequired())
    assert "reason" not in (answer.json or {})
    header = 'Bearer error="insufficient_user_authentication", max_age="900"'
    assert answer.headers["WWW-Authenticate"] == header


def test_application_s_own_401_has_no_reason(app: Flask) -> None:
    with app.app_context():
        own = problem_response(Unauthorized("Not here"))
        assert own.headers["WWW-Authenticate"] == "Bearer"
        assert "reason" not in (own.json or {})


def test_openapi_document_lists_the_reasons(api: Api) -> None:
    document = api.get("/openapi.json").json
    problem = document["components"]["schemas"]["Problem"]["properties"]["reason"]
    [reference] = problem["allOf"]
    reasons = document["components"]["schemas"][reference["$ref"].rpartition("/")[2]]
    assert reasons["enum"] == list(REASONS)
    examples = document["paths"]["/api/v1/account"]["get"]["responses"]["401"]["content"]
    for kind in (InvalidCredentials, LoggedOut, InactiveCaller):
        found = examples["application/problem+json"]["examples"].get(kind.code)
        assert found is None or found["value"]["reason"] == kind.reason
