"""Missing or misplaced setup calls stop the start with an error that says how to fix them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial, wraps
from typing import Any
from unittest import mock

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from marshmallow import Schema
from pydantic import SecretStr

from app import (
    AccountMixin,
    Frontdesk,
    LoginRead,
    Schemas,
    SetupError,
    account_required,
    member_required,
    roles_required,
    workspace_roles_required,
)
from app.accounts.account import Account
from app.blueprints import auth, tasks
from app.core.config.environment import SettingsError
from app.core.config.settings import CoreSettings
from app.testing.client import Api

from ..rigs.hosts import HostSettings, host_with, plain_app


def test_init_app_before_the_database_is_rejected() -> None:
    with pytest.raises(SetupError, match=r"Call db\.init_app\(app\) before"):
        Frontdesk().init_app(Flask("host"), SQLAlchemy())


def test_blueprint_before_init_app_is_rejected() -> None:
    host, _ = plain_app()
    with pytest.raises(SetupError, match="before registering the blueprint 'tasks'"):
        host.register_blueprint(tasks)


def test_database_object_of_another_application_is_rejected() -> None:
    host, _ = plain_app()
    with pytest.raises(SetupError, match="another SQLAlchemy object"):
        Frontdesk().init_app(host, SQLAlchemy())


def test_second_init_app_is_rejected() -> None:
    host, db = plain_app()
    Frontdesk().init_app(host, db, settings=HostSettings())
    with pytest.raises(SetupError, match="twice"):
        Frontdesk().init_app(host, db, settings=HostSettings())


@pytest.mark.parametrize("model", [None, AccountMixin, object])
def test_auth_blueprint_without_a_mapped_model_is_rejected(model: type | None) -> None:
    with pytest.raises(SetupError, match="pass account_model=, a mapped class"):
        host_with((auth, "/desk"), account_model=model)


@pytest.mark.parametrize("model", [None, AccountMixin])
def test_decorator_without_a_mapped_model_is_500_with_a_logged_reason(
    model: type | None, caplog: pytest.LogCaptureFixture
) -> None:
    host = host_with(account_model=model)
    host.add_url_rule("/own", "own", account_required(lambda: "in"))
    response = Api(host, "").get("/own", 500, headers={"Authorization": "Bearer a.b.c"})
    assert response.detail == "Account model is not configured"
    assert "pass account_model=" in caplog.text


def test_missing_init_app_is_an_error_with_the_fix() -> None:
    host = Flask("host")
    host.add_url_rule("/own", "own", account_required(lambda: "in"))
    host.testing = True
    with pytest.raises(SetupError, match="Frontdesk is not initialized"):
        host.test_client().get("/own", headers={"Authorization": "Bearer a.b.c"})


@pytest.mark.parametrize("schema", [LoginRead(), "LoginRead", Account])
def test_schema_must_be_a_class(schema: Any) -> None:
    with pytest.raises(SetupError, match=r"Schemas\(login=.*: it takes a class derived from"):
        host_with(schemas=Schemas(login=schema))


def test_login_schema_must_derive_from_login_read() -> None:
    with pytest.raises(SetupError, match=r"would respond without a token: derive it from"):
        host_with(schemas=Schemas(login=type("Greeting", (Schema,), {})))


@pytest.mark.parametrize("decorate", [Frontdesk().on, lambda name: Frontdesk().emit(name, None)])
def test_misspelled_event_is_rejected_with_a_suggestion(decorate: Any) -> None:
    with (
        host_with().app_context(),
        pytest.raises(SetupError, match=r'Do you mean "account-registered"\?'),
    ):
        decorate("account-registred")


def test_declared_event_of_the_application_calls_its_listeners() -> None:
    frontdesk, heard = Frontdesk(), []
    frontdesk.on(frontdesk.event("note-pinned"))(lambda note, _options: heard.append(note))
    with host_with(frontdesk=frontdesk).app_context():
        assert frontdesk.emit("note-pinned", "Milk is out") == 1
    assert heard == ["Milk is out"]


def test_settings_must_be_an_object() -> None:
    with pytest.raises(SetupError, match="a mapping as settings="):
        host_with(settings={"PROJECT_NAME": "Host"})


def test_unsupported_database_is_rejected() -> None:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "mssql+pyodbc://host"
    db = SQLAlchemy()
    with mock.patch.object(SQLAlchemy, "engine", mock.Mock(**{"dialect.name": "mssql"})):
        host.extensions["sqlalchemy"] = db
        with pytest.raises(SetupError, match="on SQLite and PostgreSQL, and not on mssql"):
            Frontdesk().init_app(host, db)


def test_broker_without_celery_stops_the_start() -> None:
    class Brokered(HostSettings):
        CORE = CoreSettings(CELERY_BROKER_URL=SecretStr("redis://127.0.0.1"))

    with (
        mock.patch.dict(sys.modules, {"celery": None}),
        pytest.raises(SettingsError, match=r"pip install 'flask-frontdesk\[celery\]'"),
    ):
        host_with(settings=Brokered())


@pytest.mark.parametrize("decorator", ["on", "channel"])
def test_named_hook_requires_a_name(decorator: str) -> None:
    with pytest.raises(SetupError, match=rf'@frontdesk\.{decorator}\("…"\)'):
        getattr(Frontdesk(), decorator)(lambda *_: None)


Register = Callable[[Any], object]

HOOKS: dict[str, tuple[Register, str]] = {
    "@frontdesk.claims": (Frontdesk().claims, "account, session"),
    "@frontdesk.payload": (Frontdesk().payload, "payload, session"),
    "@frontdesk.receivers": (Frontdesk().receivers, "accounts, session"),
    "@frontdesk.recovery_mail": (Frontdesk().recovery_mail, "email_to=, username=, token=, code="),
    "@frontdesk.workspace_resolver": (
        Frontdesk().workspace_resolver,
        "session, account, path_params, headers",
    ),
    '@frontdesk.channel("slack")': (Frontdesk().channel("slack"), "message, receiver"),
    '@frontdesk.on("account-deleted")': (Frontdesk().on("account-deleted"), "subject, options"),
    "@member_required(resolver=…)": (
        lambda hook: member_required(resolver=hook),
        "session, account, path_params, headers",
    ),
}


def one_parameter(account: Any) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize("kind", HOOKS)
def test_hook_with_wrong_parameters_is_rejected_at_registration(kind: str) -> None:
    register, arguments = HOOKS[kind]
    with pytest.raises(SetupError) as error:
        register(one_parameter)
    assert f"{kind} is called with ({arguments}), which one_parameter(account" in str(error.value)


@pytest.mark.parametrize("kind", HOOKS)
def test_hook_must_be_callable(kind: str) -> None:
    register, arguments = HOOKS[kind]
    with pytest.raises(SetupError, match=re.escape(f"{kind} takes a function of ({arguments})")):
        register("a name")


def claims_with_library(account: Any, session: Any, library: Any) -> dict[str, Any]:
    return {}


@wraps(claims_with_library)
def wrapped_claims(account: Any, session: Any) -> dict[str, Any]:
    return claims_with_library(account, session, "library")


@pytest.mark.parametrize(
    "hook",
    [
        partial(claims_with_library, library=1),
        wrapped_claims,
        mock.Mock(),
        max,
        lambda *_, **__: None,
    ],
)
def test_every_callable_can_be_a_hook(hook: Any) -> None:
    Frontdesk().claims(hook)


@pytest.mark.parametrize("decorator", [roles_required, workspace_roles_required])
def test_role_decorator_without_roles_is_rejected(decorator: Any) -> None:
    with pytest.raises(SetupError, match=f'@{decorator.__name__}\\("admin"\\)'):
        decorator(lambda: "in")


def test_account_model_of_the_service_is_accepted() -> None:
    host, db = plain_app()
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=Account)
