"""Sign-in at a real identity provider, from the redirect to the access token."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import PASSWORD, MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.oidc.browser import query_of
from ..rigs.oidc.node import Provider
from ..rigs.oidc.visitor import OTHER_REDIRECT_URI, REDIRECT_URI, Visitor

MakeApp = Callable[..., Flask]


@pytest.fixture
def ada(idp_app: Flask, person: MakePerson) -> Person:
    return person("ada", into=idp_app)


def test_disabled_routes_return_403(api: Api) -> None:
    assert api.get("/idp/login", 403).json["code"] == "idp_disabled"
    assert api.get("/idp/login?redirect_uri=javascript:x", 403)
    assert api.post("/idp/callback", 403, json={"unknown": True})
    assert api.post("/idp/callback", 403, data="{", content_type="application/json")


def test_redirect_has_state_nonce_and_pkce(visitor: Visitor) -> None:
    query = query_of(visitor.begin())
    assert query["response_type"] == "code"
    assert query["client_id"] == "frontdesk"
    assert query["redirect_uri"] == REDIRECT_URI
    assert query["code_challenge_method"] == "S256"
    assert set(query["scope"].split()) == {"openid", "email", "profile"}
    assert all(len(query[name]) >= 20 for name in ("state", "nonce", "code_challenge"))
    again = query_of(visitor.begin())
    assert all(query[name] != again[name] for name in ("state", "nonce", "code_challenge"))


def test_response_is_the_same_as_for_login(visitor: Visitor, ada: Person) -> None:
    form = {"username": ada.email, "password": PASSWORD}
    by_password = Api(ada.app).post("/login", data=form)
    answer = visitor.sign_in("ada")
    assert answer.json.keys() == by_password.json.keys()
    assert answer.json["account"].keys() == by_password.json["account"].keys()
    assert answer.json["account"]["last_login_date"] is not None
    assert answer.headers["Cache-Control"] == "no-store"
    signed_in = Api(ada.app, token=answer.json["access_token"])
    assert signed_in.get("/account").json["email"] == ada.email


def test_hooks_and_events_are_the_same_as_for_login(visitor: Visitor, ada: Person) -> None:
    context = ada.app.extensions["frontdesk"]
    emails: list[str] = []
    context.hooks.add("payload", lambda payload, session: {**payload, "token_type": emails[-1]})
    context.actions.on("account-logged-in", lambda account, options: emails.append(account.email))
    assert visitor.sign_in("ada").json["token_type"] == ada.email


def test_sign_in_ends_a_revocation(visitor: Visitor, ada: Person) -> None:
    before = ada.api()
    before.delete("/logout")
    before.get("/account", 401)
    visitor.sign_in("ada")
    before.get("/account")


def test_emails_are_compared_case_insensitively(visitor: Visitor, person: MakePerson) -> None:
    person("mixed.case", into=visitor.api.app)
    answer = visitor.sign_in("mixed")
    assert answer.json["account"]["email"] == "mixed.case@example.com"


@pytest.mark.parametrize("login", ["unverified", "unstated", "mailless"])
def test_unverified_email_is_rejected(visitor: Visitor, person: MakePerson, login: str) -> None:
    person(login, into=visitor.api.app)
    assert visitor.sign_in(login, 400).json["code"] == "email_not_verified"


def test_inactive_account_cannot_sign_in(visitor: Visitor, person: MakePerson) -> None:
    inactive = person("ivan", into=visitor.api.app, status="suspended")
    assert visitor.sign_in("ivan", 400).detail == "Inactive account"
    inactive.change(status="active")
    assert visitor.sign_in("ivan").json["account"]["last_login_date"] is not None


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
@pytest.mark.parametrize("client", ["frontdesk-post", "frontdesk-ec", "frontdesk-ed"])
def test_client_authentication_methods_and_signing_algorithms(
    make_idp_app: MakeApp, person: MakePerson, client: str
) -> None:
    app = make_idp_app(IDP_OAUTH_CLIENT_ID=client)
    person("ada", into=app)
    visitor = Visitor(Api(app))
    visitor.sign_in("ada")
    visitor.sign_in("ada")


def test_email_can_come_from_the_id_token(
    visitor: Visitor, ada: Person, provider: Provider
) -> None:
    provider.change(claimsInIdToken=True)
    visitor.sign_in("ada")


def test_secrets_are_not_logged(
    visitor: Visitor, ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    callback = visitor.go("ada")
    answer = visitor.finish(callback)
    visitor.finish(callback, 400)
    visitor.finish(callback | visitor.go("ada") | {"code": callback["code"]}, 400)
    messages = [r.getMessage() for r in caplog.records if r.name.startswith(("app", "authlib"))]
    assert messages
    for secret in (callback["code"], answer.json["access_token"], "code_verifier"):
        assert not any(secret in line for line in messages)


class TestSession:
    """The session cookie, which ties the callback to the browser that started the sign-in."""

    def test_cookie_is_secure_and_deleted_at_the_end(self, visitor: Visitor, ada: Person) -> None:
        answer = visitor.api.get("/idp/login", 302)
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-frontdesk_session=")
        assert all(word in cookie for word in ("HttpOnly", "SameSite=Lax", "Secure", "Path=/"))
        assert "Domain" not in cookie
        assert answer.headers["Cache-Control"] == "no-store"
        callback = visitor.browser.sign_in(answer.headers["Location"], "ada", REDIRECT_URI)
        deletion = visitor.finish(callback).headers["Set-Cookie"]
        assert deletion.startswith("__Host-frontdesk_session=;")
        # Browsers ignore a deletion that lacks the attributes which the cookie's prefix requires.
        assert all(word in deletion for word in ("Secure", "Path=/"))

    def test_debug_mode_sends_the_cookie_without_tls(
        self, make_idp_app: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FLASK_DEBUG", "1")
        cookie = Api(make_idp_app()).get("/idp/login", 302).headers["Set-Cookie"]
        assert cookie.startswith("frontdesk_session=")
        assert "Secure" not in cookie
        assert "HttpOnly" in cookie

    def test_other_routes_set_no_cookie(self, visitor: Visitor, ada: Person) -> None:
        visitor.begin()
        visitor.api.token = ada.token()
        assert "Set-Cookie" not in visitor.api.get("/account").headers
        assert "Set-Cookie" not in visitor.api.get("/health").headers

    def test_callback_needs_the_browser_that_started(self, visitor: Visitor, ada: Person) -> None:
        callback = visitor.go("ada")
        other_browser = Visitor(Api(ada.app))
        assert other_browser.finish(callback, 400).json["code"] == "unknown_sign_in"
        other_browser.begin()
        assert other_browser.finish(callback, 400).json["code"] == "unknown_sign_in"
        visitor.finish(callback)

    def test_code_of_another_user_is_rejected_with_own_state(
        self, visitor: Visitor, ada: Person
    ) -> None:
        mallorys_callback = Visitor(Api(ada.app)).go("mallory")
        own = query_of(visitor.begin())
        refused = visitor.finish({"code": mallorys_callback["code"], "state": own["state"]}, 400)
        assert refused.json["code"] == "sign_in_refused"

    def test_finished_sign_in_cannot_be_finished_again(self, visitor: Visitor, ada: Person) -> None:
        callback = visitor.go("ada")
        visitor.finish(callback)
        assert visitor.finish(callback, 400).json["code"] == "unknown_sign_in"

    def test_code_is_single_use(self, visitor: Visitor, ada: Person) -> None:
        callback = visitor.go("ada")
        visitor.finish(callback)
        state = query_of(visitor.begin())["state"]
        answer = visitor.finish({"code": callback["code"], "state": state}, 400)
        assert answer.json["code"] == "sign_in_refused"

    def test_state_is_optional(self, visitor: Visitor, ada: Person) -> None:
        callback = visitor.go("ada")
        visitor.api.post(
            "/idp/callback", json={"code": callback["code"], "redirect_uri": REDIRECT_URI}
        )

    def test_redirect_uri_must_match_the_start(self, visitor: Visitor, ada: Person) -> None:
        callback = visitor.go("ada")
        visitor.finish(callback, 400, redirect_uri=OTHER_REDIRECT_URI)
        visitor.finish(callback)

    def test_two_tabs_can_sign_in_concurrently(self, visitor: Visitor, ada: Person) -> None:
        first, second = visitor.go("ada"), visitor.go("ada")
        visitor.finish(first)
        visitor.finish(second)

    def test_unfinished_sign_in_expires_after_ten_minutes(
        self, visitor: Visitor, ada: Person, clock: SteppingClock
    ) -> None:
        callback = visitor.go("ada")
        clock.step(minutes=11)
        visitor.finish(callback, 400)

    def test_many_unfinished_sign_ins_keep_the_cookie_small(self, visitor: Visitor) -> None:
        long = REDIRECT_URI + "?" + "x" * 400
        for _ in range(10):
            answer = visitor.api.get("/idp/login", 302, query_string={"redirect_uri": long})
        assert len(answer.headers["Set-Cookie"]) < 4000

    def test_clients_without_cookies_work_where_no_session_is_required(
        self, make_idp_app: MakeApp, person: MakePerson, provider: Provider
    ) -> None:
        provider.change(requirePkce=False)
        app = make_idp_app(IDP_REQUIRE_SESSION="false")
        person("ada", into=app)
        visitor = Visitor(Api(app))
        assert "code_challenge" not in query_of(visitor.begin())
        Visitor(Api(app)).finish(visitor.go("ada"))
        visitor.finish(visitor.go("ada"))
        other_callback = Visitor(Api(app)).go("ada")
        visitor.begin()
        assert visitor.finish(other_callback, 400).json["code"] == "unknown_sign_in"


class TestInput:
    @for_each(
        "uri",
        [
            REDIRECT_URI,
            OTHER_REDIRECT_URI,
            "http://localhost:3000",
            "http://LOCALHOST:3000/any/where?x=1",
        ],
    )
    def test_allowed_redirect_is_accepted(self, visitor: Visitor, uri: str) -> None:
        assert query_of(visitor.begin(uri))["redirect_uri"] == uri

    def test_redirect_defaults_to_the_setting(self, visitor: Visitor) -> None:
        answer = visitor.api.get("/idp/login", 302)
        assert query_of(answer.headers["Location"])["redirect_uri"] == REDIRECT_URI

    @for_each(
        "uri",
        [
            "",
            "/signed-in",
            "//localhost:3000/x",
            "https://localhost:3000/signed-in",
            "http://localhost:3001/signed-in",
            "http://localhost/signed-in",
            "http://localhost:3000.evil.example/",
            "http://localhost:3000@evil.example/",
            "http://evil.example\\@localhost:3000/",
            "http://localhost:3000/#fragment",
            "http://localhost:3000/\tx",
            "http://localhost:3000/\x00",
            "http://localhost:\uff13000/",
            "http://[localhost:3000/",
            "http://localhost:99999/",
            "https://app.example.com/signed-in/",
            "javascript:alert(1)",
            "http://localhost:3000/" + "x" * 500,
        ],
    )
    def test_other_redirect_is_rejected(self, visitor: Visitor, uri: str) -> None:
        answer = visitor.api.get("/idp/login", 422, query_string={"redirect_uri": uri})
        assert answer.faults == ["query:redirect_uri"]
        answer = visitor.api.post("/idp/callback", 422, json={"code": "x", "redirect_uri": uri})
        assert answer.faults == ["json:redirect_uri"]

    def test_redirect_is_required_without_the_setting(self, make_idp_app: MakeApp) -> None:
        api = Api(make_idp_app(IDP_REDIRECT_URI=""))
        assert api.get("/idp/login", 422).faults == ["query:redirect_uri"]
        assert api.post("/idp/callback", 422, json={"code": "x"}).faults == ["json:redirect_uri"]

    @for_each(
        ("body", "field"),
        [
            ({}, "code"),
            ({"code": ""}, "code"),
            ({"code": "\n"}, "code"),
            ({"code": None}, "code"),
            ({"code": 7}, "code"),
            ({"code": "a\x00"}, "code"),
            ({"code": "x" * 5000}, "code"),
            ({"code": "x", "redirect_uri": None}, "redirect_uri"),
            ({"code": "x", "redirect_uri": ["x"]}, "redirect_uri"),
            ({"code": "x", "state": 7}, "state"),
            ({"code": "x", "state": "x" * 600}, "state"),
            ({"code": "x", "auth_data": "text"}, "auth_data"),
            ({"code": "x", "auth_data": [1]}, "auth_data"),
        ],
    )
    def test_invalid_callback_body_is_rejected(
        self, visitor: Visitor, body: Any, field: str
    ) -> None:
        assert visitor.api.post("/idp/callback", 422, json=body).faults == [f"json:{field}"]

    @for_each("code", ["ÿ%zz &=", "😀", "x" * 4096])
    def test_malformed_code_is_rejected(self, visitor: Visitor, code: str) -> None:
        state = query_of(visitor.begin())["state"]
        visitor.finish({"code": code, "state": state}, 400)

    def test_repeated_redirect_is_rejected(self, visitor: Visitor) -> None:
        uris = {"redirect_uri": [REDIRECT_URI, REDIRECT_URI]}
        visitor.api.get("/idp/login", 422, query_string=uris)
