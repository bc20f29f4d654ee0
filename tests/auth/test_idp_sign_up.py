"""Sign-up through the identity provider: users without an account."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from marshmallow import Schema, fields
from sqlalchemy.orm import Mapped, mapped_column

from app import AccountMixin, Schemas
from app.accounts.service import Accounts
from app.auth.actions import ACCOUNT_CREATE
from app.auth.idp.calls import MAX_CALLS
from app.auth.idp.users import IdpUserInfo
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
def new_user(open_app: Flask) -> Visitor:
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
    """Run as many concurrent callbacks as the client allows; return the IDs of their accounts."""
    visits = [Visitor(Api(app)) for _ in range(MAX_CALLS)]
    callbacks = [visit.go(login) for visit in visits]
    with ThreadPoolExecutor(MAX_CALLS) as threads:
        answers = threads.map(lambda visit, callback: visit.finish(callback), visits, callbacks)
        return {answer.json["account"]["id"] for answer in answers}


def test_disabled_sign_up_rejects_new_users(visitor: Visitor) -> None:
    received: list[Any] = []
    listen(visitor.api.app, ACCOUNT_CREATE.name, lambda person, options: received.append(person))
    assert visitor.sign_in("zoe", 400).json["code"] == "no_account"
    assert (received, emails(visitor.api.app)) == ([], [])


def test_sign_up_creates_an_account(new_user: Visitor) -> None:
    registered: list[str] = []
    listen(
        new_user.api.app,
        "account-registered",
        lambda account, options: registered.append(account.email),
    )
    answer = new_user.sign_in("zoe")
    assert answer.json["account"]["email"] == "zoe@example.com"
    assert answer.json["account"]["role"] == "user"
    assert registered == ["zoe@example.com"]
    again = new_user.sign_in("zoe")
    assert again.json["account"]["id"] == answer.json["account"]["id"]


def test_new_account_has_no_password(new_user: Visitor) -> None:
    new_user.sign_in("zoe")
    for password in ("", "None", "zoe@example.com"):
        form = {"username": "zoe@example.com", "password": password}
        new_user.api.post("/login", 400, data=form)
    new_user.api.post("/password-recovery", json={"email": "zoe@example.com"})


@pytest.mark.parametrize("login", ["unverified", "unstated", "mailless"])
def test_unverified_email_creates_no_account(new_user: Visitor, login: str) -> None:
    new_user.sign_in(login, 400)
    assert emails(new_user.api.app) == []


def test_concurrent_callbacks_create_one_account(new_user: Visitor) -> None:
    assert len(sign_in_together(new_user.api.app, "zoe")) == 1
    assert emails(new_user.api.app) == ["zoe@example.com"]


def reader_model(db: SQLAlchemy) -> Any:
    """Return an account model with a required column of its own."""
    members = {"username": mapped_column(unique=True), "__annotations__": {"username": Mapped[str]}}
    return type("Reader", (AccountMixin, db.Model), members)


class TestListener:
    """The application's listener creates the account."""

    def test_listener_receives_the_person_and_the_session(self, make_idp_host: MakeApp) -> None:
        received: list[tuple[IdpUserInfo, dict[str, Any]]] = []

        def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
            received.append((person, options))
            model = service(Accounts).model
            options["session"].add(model(email=person.email, role="admin"))

        answer = Visitor(Api(make_idp_host(on_sign_up=create))).sign_in("zoe")
        assert answer.json["account"]["role"] == "admin"
        [(person, options)] = received
        assert (person.email, person.subject) == ("zoe@example.com", "zoe")
        assert person.issuer == person.claims["iss"]
        assert person.auth_payload is None
        assert person.claims["given_name"] == "Person"
        assert options.keys() == {"session", "origin"}

    def test_listener_can_abort_the_sign_up(self, make_idp_host: MakeApp) -> None:
        def refuse(person: IdpUserInfo, options: dict[str, Any]) -> None:
            service(Accounts).create(person.email, None)
            raise Forbidden("Colleagues only")

        host = make_idp_host(on_sign_up=refuse)
        assert Visitor(Api(host)).sign_in("zoe", 403).detail == "Colleagues only"
        assert emails(host) == []

    def test_listener_can_require_approval(self, make_idp_host: MakeApp) -> None:
        def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
            service(Accounts).create(person.email, None, status="waiting")

        host = make_idp_host(on_sign_up=create)
        visitor = Visitor(Api(host))
        assert visitor.sign_in("zoe", 400).detail == "Inactive account"
        with host.app_context():
            accounts = service(Accounts)
            accounts.change(accounts.get("zoe@example.com"), status="active")
        visitor.sign_in("zoe")

    def test_missing_listener_is_logged(
        self, make_idp_host: MakeApp, caplog: pytest.LogCaptureFixture
    ) -> None:
        answer = Visitor(Api(make_idp_host())).sign_in("zoe", 500)
        assert answer.json["code"] == "no_account_created"
        assert "there is no listener" in caplog.text
        assert "frontdesk.on('idp-account-create')" in caplog.text

    def test_listener_that_creates_no_account_is_logged(
        self, make_idp_host: MakeApp, caplog: pytest.LogCaptureFixture
    ) -> None:
        host = make_idp_host(on_sign_up=lambda person, options: None)
        assert Visitor(Api(host)).sign_in("zoe", 500).json["code"] == "no_account_created"
        assert "its listener created no account" in caplog.text

    @pytest.mark.parametrize("adds_a_row", [False, True])
    def test_required_column_without_a_value_is_named_in_the_log(
        self, make_idp_host: MakeApp, caplog: pytest.LogCaptureFixture, adds_a_row: bool
    ) -> None:
        def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
            name = person.claims["sub"] if is_complete else None
            if adds_a_row:
                model = service(Accounts).model
                options["session"].add(model(email=person.email, username=name))
            else:
                service(Accounts).create(person.email, None, username=name)

        is_complete = False
        host = make_idp_host(on_sign_up=create, model=reader_model, url="sqlite://")
        with host.app_context():
            host.extensions["sqlalchemy"].create_all()
        answer = Visitor(Api(host)).sign_in("zoe", 403)
        assert answer.json["code"] == "sign_up_needed"
        assert "errors" not in answer.json
        assert "requires a value in the column username" in caplog.text
        assert "idp-account-create" in caplog.text
        assert emails(host) == []
        is_complete = True
        Visitor(Api(host)).sign_in("zoe")
        assert emails(host) == ["zoe@example.com"]

    def test_listener_that_creates_another_account_is_rolled_back(
        self, make_idp_host: MakeApp
    ) -> None:
        def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
            service(Accounts).create("other@example.com", None)

        host = make_idp_host(on_sign_up=create)
        Visitor(Api(host)).sign_in("zoe", 500)
        assert emails(host) == []

    def test_concurrent_callbacks_with_a_listener_create_one_account(
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
    """`auth_data` of the callback, validated by the application's schema."""

    def test_auth_data_is_validated_before_the_provider_is_called(
        self, make_idp_host: MakeApp, proxy: Proxy
    ) -> None:
        visitor = Visitor(Api(make_idp_host(schemas=Schemas(idp_payload=Signup))))
        callback = visitor.go("zoe")
        for auth_data in ({}, {"plan": 7}, {"plan": None}):
            answer = visitor.finish(callback, 422, auth_data=auth_data)
            assert answer.faults == ["json:auth_data.plan"]
        assert visitor.finish(callback, 422, auth_data={"plan": "a", "x": 1}).faults == [
            "json:auth_data.x"
        ]
        left_out = {"code": callback["code"], "redirect_uri": REDIRECT_URI}
        answer = visitor.api.post("/idp/callback", 422, json=left_out)
        assert answer.faults == ["json:auth_data.plan"]
        assert proxy.calls[TOKEN] == 0

    def test_auth_data_is_passed_to_the_listener(self, make_idp_host: MakeApp) -> None:
        received: list[Any] = []

        def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
            received.append(person.auth_payload)
            service(Accounts).create(person.email, None)

        host = make_idp_host(schemas=Schemas(idp_payload=Signup), on_sign_up=create)
        Visitor(Api(host)).sign_in("zoe", auth_data={"plan": "small"})
        assert received == [{"plan": "small"}]
