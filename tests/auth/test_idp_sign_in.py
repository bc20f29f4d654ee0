"""Signing in through a real provider, from the first click to the token."""

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


def test_both_routes_are_closed_while_it_is_off(api: Api) -> None:
    assert api.get("/idp/login", 403).json["code"] == "idp_disabled"
    assert api.get("/idp/login?redirect_uri=javascript:x", 403)
    assert api.post("/idp/callback", 403, json={"nonsense": True})
    assert api.post("/idp/callback", 403, data="{", content_type="application/json")


def test_the_browser_is_sent_away_with_state_nonce_and_pkce(visitor: Visitor) -> None:
    asked = query_of(visitor.begin())
    assert asked["response_type"] == "code"
    assert asked["client_id"] == "frontdesk"
    assert asked["redirect_uri"] == REDIRECT_URI
    assert asked["code_challenge_method"] == "S256"
    assert set(asked["scope"].split()) == {"openid", "email", "profile"}
    assert all(len(asked[name]) >= 20 for name in ("state", "nonce", "code_challenge"))
    again = query_of(visitor.begin())
    assert all(asked[name] != again[name] for name in ("state", "nonce", "code_challenge"))


def test_the_answer_is_that_of_a_login(visitor: Visitor, ada: Person) -> None:
    form = {"username": ada.email, "password": PASSWORD}
    by_password = Api(ada.app).post("/login", data=form)
    answer = visitor.sign_in("ada")
    assert answer.json.keys() == by_password.json.keys()
    assert answer.json["account"].keys() == by_password.json["account"].keys()
    assert answer.json["account"]["last_login_date"] is not None
    assert answer.headers["Cache-Control"] == "no-store"
    signed_in = Api(ada.app, token=answer.json["access_token"])
    assert signed_in.get("/account").json["email"] == ada.email


def test_the_same_hooks_and_the_same_event_as_a_login(visitor: Visitor, ada: Person) -> None:
    context = ada.app.extensions["frontdesk"]
    heard: list[str] = []
    context.hooks.add("payload", lambda payload, session: {**payload, "token_type": heard[-1]})
    context.actions.on("account-logged-in", lambda account, options: heard.append(account.email))
    assert visitor.sign_in("ada").json["token_type"] == ada.email


def test_it_ends_a_revocation(visitor: Visitor, ada: Person) -> None:
    before = ada.api()
    before.delete("/logout")
    before.get("/account", 401)
    visitor.sign_in("ada")
    before.get("/account")


def test_emails_are_compared_without_regard_to_case(visitor: Visitor, person: MakePerson) -> None:
    person("mixed.case", into=visitor.api.app)
    answer = visitor.sign_in("mixed")
    assert answer.json["account"]["email"] == "mixed.case@example.com"


@pytest.mark.parametrize("login", ["unverified", "unsaid", "mailless"])
def test_only_a_verified_email_opens_an_account(
    visitor: Visitor, person: MakePerson, login: str
) -> None:
    person(login, into=visitor.api.app)
    assert visitor.sign_in(login, 400).json["code"] == "email_not_verified"


def test_an_inactive_account_stays_outside(visitor: Visitor, person: MakePerson) -> None:
    inactive = person("ivan", into=visitor.api.app, status="suspended")
    assert visitor.sign_in("ivan", 400).detail == "Inactive account"
    inactive.change(status="active")
    assert visitor.sign_in("ivan").json["account"]["last_login_date"] is not None


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
@pytest.mark.parametrize("client", ["frontdesk-post", "frontdesk-ec", "frontdesk-ed"])
def test_providers_differ_in_what_they_ask_and_sign_with(
    make_idp_app: MakeApp, person: MakePerson, client: str
) -> None:
    app = make_idp_app(IDP_OAUTH_CLIENT_ID=client)
    person("ada", into=app)
    visitor = Visitor(Api(app))
    visitor.sign_in("ada")
    visitor.sign_in("ada")


def test_the_email_may_be_in_the_id_token(
    visitor: Visitor, ada: Person, provider: Provider
) -> None:
    provider.change(claimsInIdToken=True)
    visitor.sign_in("ada")


def test_nothing_secret_is_logged(
    visitor: Visitor, ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    back = visitor.go("ada")
    answer = visitor.finish(back)
    visitor.finish(back, 400)
    visitor.finish(back | visitor.go("ada") | {"code": back["code"]}, 400)
    from_us = [r.getMessage() for r in caplog.records if r.name.startswith(("app", "authlib"))]
    assert from_us
    for secret in (back["code"], answer.json["access_token"], "code_verifier"):
        assert not any(secret in line for line in from_us)


class TestSession:
    """What ties the callback to the browser that began."""

    def test_the_cookie_is_safe_and_gone_in_the_end(self, visitor: Visitor, ada: Person) -> None:
        answer = visitor.api.get("/idp/login", 302)
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-frontdesk_session=")
        assert all(word in cookie for word in ("HttpOnly", "SameSite=Lax", "Secure", "Path=/"))
        assert "Domain" not in cookie
        assert answer.headers["Cache-Control"] == "no-store"
        back = visitor.browser.sign_in(answer.headers["Location"], "ada", REDIRECT_URI)
        gone = visitor.finish(back).headers["Set-Cookie"]
        assert gone.startswith("__Host-frontdesk_session=;")
        # A browser ignores one of this name that says less, and would keep what it has.
        assert all(word in gone for word in ("Secure", "Path=/"))

    def test_in_debug_mode_the_cookie_travels_without_tls(
        self, make_idp_app: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FLASK_DEBUG", "1")
        cookie = Api(make_idp_app()).get("/idp/login", 302).headers["Set-Cookie"]
        assert cookie.startswith("frontdesk_session=")
        assert "Secure" not in cookie
        assert "HttpOnly" in cookie

    def test_no_other_route_sets_a_cookie(self, visitor: Visitor, ada: Person) -> None:
        visitor.begin()
        visitor.api.token = ada.token()
        assert "Set-Cookie" not in visitor.api.get("/account").headers
        assert "Set-Cookie" not in visitor.api.get("/health").headers

    def test_a_callback_needs_the_browser_that_began(self, visitor: Visitor, ada: Person) -> None:
        back = visitor.go("ada")
        stranger = Visitor(Api(ada.app))
        assert stranger.finish(back, 400).json["code"] == "unknown_sign_in"
        stranger.begin()
        assert stranger.finish(back, 400).json["code"] == "unknown_sign_in"
        visitor.finish(back)

    def test_a_code_of_somebody_else_is_no_good_with_ones_own_state(
        self, visitor: Visitor, ada: Person
    ) -> None:
        theirs = Visitor(Api(ada.app)).go("mallory")
        own = query_of(visitor.begin())
        refused = visitor.finish({"code": theirs["code"], "state": own["state"]}, 400)
        assert refused.json["code"] == "sign_in_refused"

    def test_a_finished_sign_in_cannot_be_finished_again(
        self, visitor: Visitor, ada: Person
    ) -> None:
        back = visitor.go("ada")
        visitor.finish(back)
        assert visitor.finish(back, 400).json["code"] == "unknown_sign_in"

    def test_a_code_counts_once(self, visitor: Visitor, ada: Person) -> None:
        back = visitor.go("ada")
        visitor.finish(back)
        state = query_of(visitor.begin())["state"]
        answer = visitor.finish({"code": back["code"], "state": state}, 400)
        assert answer.json["code"] == "sign_in_refused"

    def test_the_state_need_not_be_told(self, visitor: Visitor, ada: Person) -> None:
        back = visitor.go("ada")
        visitor.api.post("/idp/callback", json={"code": back["code"], "redirect_uri": REDIRECT_URI})

    def test_the_redirect_uri_must_be_the_one_it_began_with(
        self, visitor: Visitor, ada: Person
    ) -> None:
        back = visitor.go("ada")
        visitor.finish(back, 400, redirect_uri=OTHER_REDIRECT_URI)
        visitor.finish(back)

    def test_two_tabs_may_sign_in_at_once(self, visitor: Visitor, ada: Person) -> None:
        first, second = visitor.go("ada"), visitor.go("ada")
        visitor.finish(first)
        visitor.finish(second)

    def test_a_sign_in_is_given_up_after_ten_minutes(
        self, visitor: Visitor, ada: Person, clock: SteppingClock
    ) -> None:
        back = visitor.go("ada")
        clock.step(minutes=11)
        visitor.finish(back, 400)

    def test_many_unfinished_ones_leave_the_cookie_small(self, visitor: Visitor) -> None:
        long = REDIRECT_URI + "?" + "x" * 400
        for _ in range(10):
            answer = visitor.api.get("/idp/login", 302, query_string={"redirect_uri": long})
        assert len(answer.headers["Set-Cookie"]) < 4000

    def test_without_sessions_a_client_needs_no_cookies(
        self, make_idp_app: MakeApp, person: MakePerson, provider: Provider
    ) -> None:
        provider.change(requirePkce=False)
        app = make_idp_app(IDP_REQUIRE_SESSION="false")
        person("ada", into=app)
        visitor = Visitor(Api(app))
        assert "code_challenge" not in query_of(visitor.begin())
        Visitor(Api(app)).finish(visitor.go("ada"))
        visitor.finish(visitor.go("ada"))
        theirs = Visitor(Api(app)).go("ada")
        visitor.begin()
        assert visitor.finish(theirs, 400).json["code"] == "unknown_sign_in"


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
    def test_redirects_of_our_own(self, visitor: Visitor, uri: str) -> None:
        assert query_of(visitor.begin(uri))["redirect_uri"] == uri

    def test_a_redirect_left_out_is_the_one_of_the_settings(self, visitor: Visitor) -> None:
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
    def test_redirects_elsewhere(self, visitor: Visitor, uri: str) -> None:
        answer = visitor.api.get("/idp/login", 422, query_string={"redirect_uri": uri})
        assert answer.faults == ["query:redirect_uri"]
        answer = visitor.api.post("/idp/callback", 422, json={"code": "x", "redirect_uri": uri})
        assert answer.faults == ["json:redirect_uri"]

    def test_without_a_setting_the_redirect_must_be_told(self, make_idp_app: MakeApp) -> None:
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
    def test_what_is_no_callback(self, visitor: Visitor, body: Any, field: str) -> None:
        assert visitor.api.post("/idp/callback", 422, json=body).faults == [f"json:{field}"]

    @for_each("code", ["ÿ%zz &=", "😀", "x" * 4096])
    def test_a_strange_code_is_refused(self, visitor: Visitor, code: str) -> None:
        state = query_of(visitor.begin())["state"]
        visitor.finish({"code": code, "state": state}, 400)

    def test_a_redirect_told_twice(self, visitor: Visitor) -> None:
        uris = {"redirect_uri": [REDIRECT_URI, REDIRECT_URI]}
        visitor.api.get("/idp/login", 422, query_string=uris)
