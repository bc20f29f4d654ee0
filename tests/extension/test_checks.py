"""What is missing or in the wrong order is named at the start, with how to mend it."""

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


def test_the_database_comes_before_frontdesk() -> None:
    with pytest.raises(SetupError, match=r"Call db\.init_app\(app\) before"):
        Frontdesk().init_app(Flask("host"), SQLAlchemy())


def test_a_blueprint_comes_after_frontdesk() -> None:
    host, _ = plain_app()
    with pytest.raises(SetupError, match="before registering the blueprint 'tasks'"):
        host.register_blueprint(tasks)


def test_another_database_object_is_not_the_applications() -> None:
    host, _ = plain_app()
    with pytest.raises(SetupError, match="another SQLAlchemy object"):
        Frontdesk().init_app(host, SQLAlchemy())


def test_a_second_init_app_is_rejected() -> None:
    host, db = plain_app()
    Frontdesk().init_app(host, db, settings=HostSettings())
    with pytest.raises(SetupError, match="twice"):
        Frontdesk().init_app(host, db, settings=HostSettings())


@pytest.mark.parametrize("model", [None, AccountMixin, object])
def test_without_a_mapped_model_auth_cannot_be_mounted(model: type | None) -> None:
    with pytest.raises(SetupError, match="pass account_model=, a mapped class"):
        host_with((auth, "/desk"), account_model=model)


@pytest.mark.parametrize("model", [None, AccountMixin])
def test_without_a_mapped_model_a_guard_answers_500_and_the_log_says_why(
    model: type | None, caplog: pytest.LogCaptureFixture
) -> None:
    host = host_with(account_model=model)
    host.add_url_rule("/own", "own", account_required(lambda: "in"))
    answer = Api(host, "").get("/own", 500, headers={"Authorization": "Bearer a.b.c"})
    assert answer.detail == "Account model is not configured"
    assert "pass account_model=" in caplog.text


def test_an_application_without_init_app_names_the_fix() -> None:
    host = Flask("host")
    host.add_url_rule("/own", "own", account_required(lambda: "in"))
    host.testing = True
    with pytest.raises(SetupError, match="Frontdesk is not initialized"):
        host.test_client().get("/own", headers={"Authorization": "Bearer a.b.c"})


@pytest.mark.parametrize("schema", [LoginRead(), "LoginRead", Account])
def test_a_schema_is_given_as_its_class(schema: Any) -> None:
    with pytest.raises(SetupError, match=r"Schemas\(login=.*: it takes a class derived from"):
        host_with(schemas=Schemas(login=schema))


def test_a_login_schema_is_derived_from_ours() -> None:
    with pytest.raises(SetupError, match=r"would respond without a token: derive it from"):
        host_with(schemas=Schemas(login=type("Greeting", (Schema,), {})))


@pytest.mark.parametrize("decorate", [Frontdesk().on, lambda name: Frontdesk().emit(name, None)])
def test_a_misspelled_event_is_rejected_with_a_suggestion(decorate: Any) -> None:
    with (
        host_with().app_context(),
        pytest.raises(SetupError, match=r'Do you mean "account-registered"\?'),
    ):
        decorate("account-registred")


def test_a_hosts_own_event_is_declared_and_then_heard() -> None:
    frontdesk, heard = Frontdesk(), []
    frontdesk.on(frontdesk.event("book-returned"))(lambda book, _options: heard.append(book))
    with host_with(frontdesk=frontdesk).app_context():
        assert frontdesk.emit("book-returned", "Middlemarch") == 1
    assert heard == ["Middlemarch"]


def test_settings_are_an_object() -> None:
    with pytest.raises(SetupError, match="a mapping as settings="):
        host_with(settings={"PROJECT_NAME": "Host"})


def test_another_database_than_those_we_know_is_refused() -> None:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "mssql+pyodbc://host"
    db = SQLAlchemy()
    with mock.patch.object(SQLAlchemy, "engine", mock.Mock(**{"dialect.name": "mssql"})):
        host.extensions["sqlalchemy"] = db
        with pytest.raises(SetupError, match="on SQLite and PostgreSQL, and not on mssql"):
            Frontdesk().init_app(host, db)


def test_a_broker_without_celery_aborts_startup() -> None:
    class Brokered(HostSettings):
        CORE = CoreSettings(CELERY_BROKER_URL=SecretStr("redis://127.0.0.1"))

    with (
        mock.patch.dict(sys.modules, {"celery": None}),
        pytest.raises(SettingsError, match=r"pip install 'flask-frontdesk\[celery\]'"),
    ):
        host_with(settings=Brokered())


@pytest.mark.parametrize("decorator", ["on", "channel"])
def test_a_named_hook_requires_a_name(decorator: str) -> None:
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


def one_short(account: Any) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize("kind", HOOKS)
def test_a_hook_with_wrong_parameters_is_rejected_at_registration(kind: str) -> None:
    register, arguments = HOOKS[kind]
    with pytest.raises(SetupError) as error:
        register(one_short)
    assert f"{kind} is called with ({arguments}), which one_short(account" in str(error.value)


@pytest.mark.parametrize("kind", HOOKS)
def test_a_hook_must_be_callable(kind: str) -> None:
    register, arguments = HOOKS[kind]
    with pytest.raises(SetupError, match=re.escape(f"{kind} takes a function of ({arguments})")):
        register("a name")


def injected(account: Any, session: Any, library: Any) -> dict[str, Any]:
    return {}


@wraps(injected)
def injecting(account: Any, session: Any) -> dict[str, Any]:
    return injected(account, session, "library")


@pytest.mark.parametrize(
    "hook", [partial(injected, library=1), injecting, mock.Mock(), max, lambda *_, **__: None]
)
def test_whatever_can_be_called_may_be_a_hook(hook: Any) -> None:
    Frontdesk().claims(hook)


@pytest.mark.parametrize("guard", [roles_required, workspace_roles_required])
def test_a_guard_for_roles_is_not_used_without_them(guard: Any) -> None:
    with pytest.raises(SetupError, match=f'@{guard.__name__}\\("admin"\\)'):
        guard(lambda: "in")


def test_the_services_own_account_fits() -> None:
    host, db = plain_app()
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=Account)
