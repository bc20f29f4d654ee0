"""Somebody whom the provider knows and we do not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from marshmallow import Schema, fields

from app import Schemas
from app.accounts.service import Accounts
from app.auth.actions import ACCOUNT_CREATE
from app.auth.idp.oidc import SEATS
from app.auth.idp.service import IdpUserInfo
from app.core.actions import Listener
from app.core.context import Context, service
from app.core.errors import Forbidden
from app.testing.client import Api

from ..rigs.oidc.proxy import TOKEN, Proxy
from ..rigs.oidc.visitor import REDIRECT_URI, Visitor

MakeApp = Callable[..., Flask]


@pytest.fixture
def open_app(make_idp_app: MakeApp) -> Flask:
    return make_idp_app(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")


@pytest.fixture
def newcomer(open_app: Flask) -> Visitor:
    return Visitor(Api(open_app))


def context(app: Flask) -> Context:
    found: Context = app.extensions["frontdesk"]
    return found


def listen(app: Flask, event: str, listener: Listener) -> None:
    context(app).actions.on(event, listener)


def emails(app: Flask) -> list[str]:
    with app.app_context():
        return [account.email for account in service(Accounts).all()]


def sign_in_together(app: Flask, login: str) -> set[int]:
    """The ids of the accounts that as many callbacks at once as find a seat sign in to."""
    visits = [Visitor(Api(app)) for _ in range(SEATS)]
    backs = [visit.go(login) for visit in visits]
    with ThreadPoolExecutor(SEATS) as threads:
        answers = threads.map(lambda visit, back: visit.finish(back), visits, backs)
        return {answer.json["account"]["id"] for answer in answers}


def test_while_signup_is_off_nobody_new_comes_in(visitor: Visitor) -> None:
    told: list[Any] = []
    listen(visitor.api.app, ACCOUNT_CREATE.name, lambda person, options: told.append(person))
    assert visitor.sign_in("zoe", 400).json["code"] == "no_account"
    assert (told, emails(visitor.api.app)) == ([], [])


def test_the_service_makes_an_account(newcomer: Visitor) -> None:
    registered: list[str] = []
    listen(
        newcomer.api.app,
        "account-registered",
        lambda account, options: registered.append(account.email),
    )
    answer = newcomer.sign_in("zoe")
    assert answer.json["account"]["email"] == "zoe@example.com"
    assert answer.json["account"]["role"] == "user"
    assert registered == ["zoe@example.com"]
    again = newcomer.sign_in("zoe")
    assert again.json["account"]["id"] == answer.json["account"]["id"]


def test_no_password_opens_the_new_account_until_one_is_set(newcomer: Visitor) -> None:
    newcomer.sign_in("zoe")
    for password in ("", "None", "zoe@example.com"):
        form = {"username": "zoe@example.com", "password": password}
        newcomer.api.post("/login", 400, data=form)
    newcomer.api.post("/password-recovery", json={"email": "zoe@example.com"})


@pytest.mark.parametrize("login", ["unverified", "unsaid", "mailless"])
def test_an_unverified_email_makes_no_account(newcomer: Visitor, login: str) -> None:
    newcomer.sign_in(login, 400)
    assert emails(newcomer.api.app) == []


def test_two_callbacks_of_one_newcomer_make_one_account(newcomer: Visitor) -> None:
    assert len(sign_in_together(newcomer.api.app, "zoe")) == 1
    assert emails(newcomer.api.app) == ["zoe@example.com"]


class TestListener:
    """The host's own listener makes the account."""

    def test_it_receives_the_person_and_the_session(self, make_idp_host: MakeApp) -> None:
        told: list[tuple[IdpUserInfo, dict[str, Any]]] = []

        def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
            told.append((person, options))
            model = service(Accounts).model
            options["session"].add(model(email=person.email, role="admin"))

        answer = Visitor(Api(make_idp_host(on_sign_up=create))).sign_in("zoe")
        assert answer.json["account"]["role"] == "admin"
        [(person, options)] = told
        assert (person.email, person.subject) == ("zoe@example.com", "zoe")
        assert person.issuer == person.claims["iss"]
        assert person.auth_payload is None
        assert person.claims["given_name"] == "Person"
        assert options.keys() == {"session", "origin"}

    def test_it_may_abort_the_sign_up(self, make_idp_host: MakeApp) -> None:
        def refuse(person: IdpUserInfo, options: dict[str, Any]) -> None:
            service(Accounts).create(person.email, None)
            raise Forbidden("Colleagues only")

        host = make_idp_host(on_sign_up=refuse)
        assert Visitor(Api(host)).sign_in("zoe", 403).detail == "Colleagues only"
        assert emails(host) == []

    def test_it_may_want_newcomers_approved_first(self, make_idp_host: MakeApp) -> None:
        def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
            service(Accounts).create(person.email, None, status="waiting")

        host = make_idp_host(on_sign_up=create)
        visitor = Visitor(Api(host))
        assert visitor.sign_in("zoe", 400).detail == "Inactive account"
        with host.app_context():
            accounts = service(Accounts)
            accounts.change(accounts.get("zoe@example.com"), status="active")
        visitor.sign_in("zoe")

    def test_none_there(self, make_idp_host: MakeApp, caplog: pytest.LogCaptureFixture) -> None:
        answer = Visitor(Api(make_idp_host())).sign_in("zoe", 500)
        assert answer.json["code"] == "no_account_created"
        assert "there is no listener" in caplog.text
        assert "frontdesk.on('idp-account-create')" in caplog.text

    def test_one_that_creates_nobody(
        self, make_idp_host: MakeApp, caplog: pytest.LogCaptureFixture
    ) -> None:
        host = make_idp_host(on_sign_up=lambda person, options: None)
        assert Visitor(Api(host)).sign_in("zoe", 500).json["code"] == "no_account_created"
        assert "its listener created no account" in caplog.text

    def test_one_that_creates_somebody_else(self, make_idp_host: MakeApp) -> None:
        def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
            service(Accounts).create("other@example.com", None)

        host = make_idp_host(on_sign_up=create)
        Visitor(Api(host)).sign_in("zoe", 500)
        assert emails(host) == []

    def test_two_callbacks_of_one_newcomer_whom_it_adds_itself(
        self, make_idp_host: MakeApp
    ) -> None:
        def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
            options["session"].add(service(Accounts).model(email=person.email))

        host = make_idp_host(on_sign_up=create)
        assert len(sign_in_together(host, "zoe")) == 1
        assert emails(host) == ["zoe@example.com"]


class Signup(Schema):
    plan = fields.String(required=True)


class TestAuthData:
    """`auth_data` of the callback, by the host's schema."""

    def test_it_is_looked_at_before_the_provider_is_called(
        self, make_idp_host: MakeApp, proxy: Proxy
    ) -> None:
        visitor = Visitor(Api(make_idp_host(schemas=Schemas(idp_payload=Signup))))
        back = visitor.go("zoe")
        for auth_data in ({}, {"plan": 7}, {"plan": None}):
            answer = visitor.finish(back, 422, auth_data=auth_data)
            assert answer.faults == ["json:auth_data.plan"]
        assert visitor.finish(back, 422, auth_data={"plan": "a", "x": 1}).faults == [
            "json:auth_data.x"
        ]
        left_out = {"code": back["code"], "redirect_uri": REDIRECT_URI}
        answer = visitor.api.post("/idp/callback", 422, json=left_out)
        assert answer.faults == ["json:auth_data.plan"]
        assert proxy.calls[TOKEN] == 0

    def test_it_is_handed_on(self, make_idp_host: MakeApp) -> None:
        told: list[Any] = []

        def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
            told.append(person.auth_payload)
            service(Accounts).create(person.email, None)

        host = make_idp_host(schemas=Schemas(idp_payload=Signup), on_sign_up=create)
        Visitor(Api(host)).sign_in("zoe", auth_data={"plan": "small"})
        assert told == [{"plan": "small"}]
