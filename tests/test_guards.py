from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app import (
    account_optional,
    account_required,
    active_account_required,
    current_account,
    roles_required,
    superuser_required,
)
from app.core.http.operation import View
from app.testing.client import Api
from app.testing.queries import noted_queries

from .conftest import MakeApp, MakePerson, Person


def who() -> dict[str, Any]:
    return {"email": current_account.email if current_account else None}


def _active_admins(view: View) -> View:
    return active_account_required(roles_required("admin")(view))


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app()
    guards = {
        "account": account_required,
        "optional": account_optional,
        "active": active_account_required,
        "root": superuser_required,
        "admins": roles_required("admin", "root"),
        "active-admins": _active_admins,
    }
    for name, guard in guards.items():
        app.add_url_rule(f"/api/v1/guarded/{name}", name, guard(who))
    return app


NOT_VALID = "Could not validate credentials"


@pytest.mark.parametrize("guard", ["account", "active", "root", "admins", "active-admins"])
def test_no_token_is_refused(api: Api, guard: str) -> None:
    assert api.get(f"/guarded/{guard}", 401).detail == NOT_VALID


def test_nobody_passes_the_optional_guard_and_a_bad_token_does_not(api: Api, ada: Person) -> None:
    assert api.get("/guarded/optional").json == {"email": None}
    assert ada.api().get("/guarded/optional").json == {"email": ada.email}
    assert api.as_token("a.b.c").get("/guarded/optional", 401).detail == NOT_VALID
    assert api.get("/guarded/optional", 401, headers={"Authorization": ""}).detail == NOT_VALID


def test_a_revoked_token_is_refused_by_every_guard(ada: Person) -> None:
    api = ada.api()
    api.delete("/logout")
    for guard in ("account", "optional", "active", "root", "admins"):
        assert api.get(f"/guarded/{guard}", 401).detail == "Token expired"


# role, status, guard, expected status, expected text
TABLE = [
    ("user", "active", "account", 200, ""),
    ("user", "inactive", "account", 200, ""),
    ("user", "active", "active", 200, ""),
    ("user", "online", "active", 200, ""),
    ("user", "inactive", "active", 401, "The account is inactive"),
    ("root", "suspended", "active", 401, "The account is inactive"),
    ("root", "active", "root", 200, ""),
    ("admin", "active", "root", 403, "Not authorized"),
    ("superuser", "active", "root", 403, "Not authorized"),
    ("root", "inactive", "root", 401, "The account is inactive"),
    ("admin", "active", "admins", 200, ""),
    ("root", "active", "admins", 200, ""),
    ("admin", "inactive", "admins", 200, ""),
    ("user", "active", "admins", 403, "Not authorized"),
    ("admin", "active", "active-admins", 200, ""),
    ("admin", "inactive", "active-admins", 401, "The account is inactive"),
    ("user", "active", "active-admins", 403, "Not authorized"),
]


@pytest.mark.parametrize(("role", "status", "guard", "expected", "text"), TABLE)
def test_who_may_enter(
    person: MakePerson, role: str, status: str, guard: str, expected: int, text: str
) -> None:
    someone = person("someone")
    api = someone.api()
    someone.change(role=role, status=status)
    answer = api.get(f"/guarded/{guard}", expected)
    assert expected == 200 or answer.detail == text


def test_stacked_guards_load_the_account_once(app: Flask, person: MakePerson) -> None:
    api = person("boss", role="admin").api()
    with noted_queries(app) as queries:
        api.get("/guarded/active-admins")
    assert len(queries) == 1, queries


def test_logout_ends_every_token_until_the_next_login(ada: Person) -> None:
    first, second = ada.api(), ada.api()
    assert first.delete("/logout").json == {"message": "Logged out"}
    assert second.get("/account", 401).detail == "Token expired"
    assert second.delete("/logout", 401).detail == "Token expired"
    ada.api().get("/account")
    second.get("/account")


def test_a_keystore_that_has_lost_everything_brings_no_token_back(app: Flask, ada: Person) -> None:
    api = ada.api()
    api.delete("/logout")
    app.extensions["frontdesk"].keystore.drop(f"revoked:{ada.email}")
    assert api.get("/account", 401).detail == "Token expired"
    ada.api().get("/account")
    api.get("/account")


def test_a_final_logout_keeps_earlier_tokens_dead(make_app: MakeApp, person: MakePerson) -> None:
    ada = person(into=make_app(AUTH__LOGOUT_IS_FINAL="true"))
    before = ada.api()
    before.delete("/logout")
    assert before.get("/account", 401).detail == "Token expired"
    ada.api().get("/account")
    assert before.get("/account", 401).detail == NOT_VALID


def test_a_login_that_a_listener_aborts_leaves_the_account_logged_out(
    app: Flask, ada: Person
) -> None:
    from .test_login import listen_to, log_in

    api = ada.api()
    api.delete("/logout")

    def refuse(account: Any, options: dict[str, Any]) -> None:
        raise RuntimeError("not today")

    listen_to(app, "account-logged-in", refuse)
    log_in(Api(app), ada.email, ada.password, 500)
    assert api.get("/account", 401).detail == "Token expired"
