"""Common mistakes during setup, each answered by one sentence that says how to fix it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from marshmallow import Schema, fields

import app as flask_frontdesk
from app import (
    Frontdesk,
    LoginRead,
    Schemas,
    UnfitPassword,
    account_required,
    after_commit,
    answers,
    anyone,
    current_account,
    polled,
    roles_required,
    workspace_roles_required,
)
from app.accounts.account import Account
from app.blueprints import auth
from app.core.web.operation import View
from app.testing.client import Api
from app.testing.people import PASSWORD, make_person

from ..rigs.hosts import HostSettings, host_with, plain_app


def error_of(mistake: Callable[[], object]) -> str:
    """Return the message of the error that a mistake raises."""
    mistakes = (AttributeError, RuntimeError, TypeError, flask_frontdesk.SettingsError)
    with pytest.raises(mistakes) as error:
        mistake()
    sentence = str(error.value)
    assert "\n" not in sentence
    return sentence


def get_view(view: View, path: str = "/own") -> Any:
    host = host_with((auth, "/desk"))
    host.add_url_rule(path, "own", view)
    host.testing = True
    return host.test_client().get(path)


def findings(host: Flask, check: str) -> list[str]:
    output = host.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"]).stdout
    found = json.loads(output.splitlines()[-1])["findings"]
    return [each["message"] for each in found if each["check"] == check]


def test_init_app_before_the_database() -> None:
    sentence = error_of(lambda: Frontdesk().init_app(Flask("host"), SQLAlchemy()))
    assert sentence == "Call db.init_app(app) before frontdesk.init_app(app, db)."


def test_blueprint_before_init_app() -> None:
    host, _ = plain_app()
    sentence = error_of(lambda: host.register_blueprint(auth))
    assert sentence.startswith("Call frontdesk.init_app(app, db) before registering the blueprint")


def test_missing_account_model() -> None:
    host, db = plain_app()
    Frontdesk().init_app(host, db, settings=HostSettings())
    assert "pass account_model=, a mapped class" in error_of(lambda: host.register_blueprint(auth))


def test_missing_tables(caplog: pytest.LogCaptureFixture) -> None:
    host, db = plain_app()
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=Account)
    host.register_blueprint(auth)
    form = {"username": "ada@example.com", "password": PASSWORD}
    assert Api(host, "").post("/login", 500, data=form).json["code"] == "internal_error"
    (message,) = (
        record for record in caplog.messages if "the database schema is out of date" in record
    )
    assert "accounts" in message
    assert "`flask db upgrade`, or db.create_all()" in message
    assert findings(host, "migrations")[0].startswith("The database lacks accounts")


def test_missing_secret_key(caplog: pytest.LogCaptureFixture) -> None:
    host, db = plain_app()
    Frontdesk().init_app(host, db)
    assert "SECRET_KEY is not set: a random key is used, so tokens are valid" in caplog.text
    assert findings(host, "secret_key") == [
        "SECRET_KEY is not set. Set SECRET_KEY to a random value of at least 32 bytes."
    ]


@pytest.fixture
def misplaced_decorator() -> Flask:
    host = host_with()
    account_required(host.get("/own")(lambda: "in"))
    host.testing = True
    return host


def test_decorator_above_its_route(misplaced_decorator: Flask) -> None:
    sentence = error_of(lambda: misplaced_decorator.test_client().get("/own"))
    assert "is above its route and has no effect: write the route first" in sentence
    assert "is above its route and has no effect" in findings(misplaced_decorator, "guards")[0]


class Price(Schema):
    amount = fields.Integer()


def test_polled_below_answers() -> None:
    def prices() -> Any:
        return []

    sentence = error_of(lambda: answers(200, Price, many=True)(polled(prices)))
    assert "prices is below @answers" in sentence
    assert sentence.endswith("write @polled above @answers.")


def test_current_account_without_a_decorator() -> None:
    sentence = error_of(lambda: get_view(lambda: current_account.email))
    assert "'own', which has no authentication decorator: add one, such as" in sentence


@pytest.mark.parametrize("name", ["current_account", "current_workspace", "current_member"])
def test_current_names_outside_a_request(name: str) -> None:
    host = host_with((auth, "/desk"))
    with host.app_context():
        sentence = error_of(lambda: getattr(flask_frontdesk, name).id)
        assert not getattr(flask_frontdesk, name)
    assert sentence.startswith(f"Working outside of request context: {name} is what")


def test_extension_outside_a_request() -> None:
    frontdesk = Frontdesk()
    with host_with((auth, "/desk"), frontdesk=frontdesk).app_context():
        assert frontdesk.current_account_or_none is None
        sentence = error_of(lambda: frontdesk.current_account.email)
    assert sentence.startswith("Working outside of request context: current_account is what")


@pytest.mark.parametrize("decorator", [roles_required, workspace_roles_required])
def test_role_decorator_with_empty_parentheses(decorator: Callable[[], object]) -> None:
    sentence = error_of(decorator)
    assert sentence.endswith(f'takes the names of roles: @{decorator.__name__}("admin")')


@pytest.mark.parametrize(
    ("name", "ours"), [("login_required", "account_required"), ("current_user", "current_account")]
)
def test_name_of_flask_login_says_the_name_here(name: str, ours: str) -> None:
    assert error_of(lambda: getattr(flask_frontdesk, name)).endswith(f"no {name}: use {ours}")
    assert not hasattr(flask_frontdesk, name)


def test_role_decorator_without_roles() -> None:
    sentence = error_of(lambda: roles_required(lambda: "in"))  # type: ignore[arg-type]
    assert sentence.endswith('takes the names of roles: @roles_required("admin")')


class Book(Schema):
    title = fields.String(required=True)


def test_list_without_many() -> None:
    view = anyone(answers(200, Book)(lambda: [{"title": "Middlemarch"}]))
    sentence = error_of(lambda: get_view(view))
    assert "Book has no field for it. A list takes many=True." in sentence


def test_view_without_a_return_value() -> None:
    def book() -> None:
        pass

    sentence = error_of(lambda: get_view(anyone(answers(200, Book)(book))))
    assert "returned a NoneType, and Book has no field for it." in sentence


def test_paginated_view_without_a_query() -> None:
    sentence = error_of(lambda: get_view(anyone(answers(200, Book, paged=True)(list))))
    assert sentence.endswith("write @takes(query=Page) above it.")


def test_schema_instance_instead_of_its_class() -> None:
    sentence = error_of(lambda: host_with(schemas=Schemas(login=LoginRead())))  # type: ignore[arg-type]
    assert sentence.endswith("derived from marshmallow.Schema, without parentheses.")


def test_login_schema_with_another_base() -> None:
    sentence = error_of(lambda: host_with(schemas=Schemas(login=Book)))
    assert sentence.endswith(
        "would respond without a token: derive it from flask_frontdesk.LoginRead."
    )


def test_claims_hook_without_a_return_value(caplog: pytest.LogCaptureFixture) -> None:
    frontdesk = Frontdesk()

    @frontdesk.claims
    def role(account: Any, session: Any) -> Any:
        account.nickname = account.role

    host = host_with((auth, ""), frontdesk=frontdesk)
    ada = make_person(host, "ada")
    Api(host, "").post("/login", 500, data={"username": ada.email, "password": PASSWORD})
    assert "A claims hook must return a mapping, not NoneType: " in caplog.text
    assert "role" in caplog.text


def test_hook_with_wrong_parameters() -> None:
    def role(account: Any) -> dict[str, Any]:
        return {}

    sentence = error_of(lambda: Frontdesk().claims(role))  # type: ignore[arg-type]
    assert "@frontdesk.claims is called with (account, session), which" in sentence


def test_misspelled_event() -> None:
    sentence = error_of(lambda: Frontdesk().on("account-loged-in"))
    assert 'There is no event "account-loged-in". Do you mean "account-logged-in"?' in sentence


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        (["emial"], 'There is no channel "emial". Do you mean "email"?'),
        (["pigeon"], 'registered first, with @frontdesk.channel("pigeon").'),
        ("email", 'channels= takes several: channels=["email"].'),
    ],
)
def test_unknown_channel(channels: Any, message: str) -> None:
    frontdesk = Frontdesk()
    with host_with(frontdesk=frontdesk).app_context():
        assert message in error_of(lambda: frontdesk.notify("Hello", "You", channels=channels))


def test_mapping_as_settings_object() -> None:
    sentence = error_of(lambda: host_with(settings={"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": 60}}))
    assert sentence.endswith('a mapping has its place in app.config["FRONTDESK"].')


def test_setting_without_its_namespace() -> None:
    host, db = plain_app(FRONTDESK={"ACCESS_TOKEN_EXPIRE_MINUTES": 60})
    sentence = error_of(lambda: Frontdesk().init_app(host, db))
    assert sentence.endswith('Write {"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": …}}.')


def test_after_commit_without_a_transaction() -> None:
    host = host_with()
    with host.app_context():
        session = host.extensions["sqlalchemy"].session
        sentence = error_of(lambda: after_commit(session, lambda: None))
    assert sentence == "This needs an open transaction(session) around it."


def test_second_init_app() -> None:
    host, db = plain_app()
    Frontdesk().init_app(host, db, settings=HostSettings())
    sentence = error_of(lambda: Frontdesk().init_app(host, db, settings=HostSettings()))
    assert sentence.endswith("was called twice for this application: call it once.")


def test_too_short_password() -> None:
    frontdesk = Frontdesk()
    with (
        host_with(frontdesk=frontdesk).app_context(),
        pytest.raises(UnfitPassword, match="The password needs at least 8 characters"),
    ):
        frontdesk.accounts.create("ada@example.com", "short")


def test_missing_mail_server() -> None:
    host = host_with((auth, ""))
    assert findings(host, "mail") == [
        "MAIL_SERVER is not set, so emails are written to instance/outbox. Set MAIL_SERVER to send"
        " emails."
    ]


def test_missing_init_app() -> None:
    with Flask("host").app_context():
        sentence = error_of(lambda: Frontdesk().accounts)
    assert sentence.endswith("call frontdesk.init_app(app, db).")
