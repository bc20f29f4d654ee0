from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import jwt
import pytest
from flask import Flask

from app.accounts.passwords import PasswordCheck, Passwords
from app.accounts.service import Accounts
from app.core.context import service
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries

from ..conftest import PASSWORD, SECRET, Backend, MakeApp, MakePerson, Person
from ..rigs.cases import for_each, new_name
from ..rigs.racing import request, run_concurrently


def log_in(api: Api, email: str, password: str, status: int = 200, **request: Any) -> Answer:
    form = {"username": email, "password": password}
    return api.post("/login", status, data=form, **request)


def test_login_response_has_the_token_and_the_account(api: Api, ada: Person) -> None:
    answer = log_in(api, "ada@example.com", PASSWORD)
    assert answer.json["token_type"] == "bearer"
    assert answer.json["account"]["email"] == "ada@example.com"
    assert answer.json["account"]["last_login_date"] is not None
    assert set(answer.json["account"]) == {
        "id",
        "email",
        "status",
        "role",
        "phone",
        "last_login_date",
        "current_workspace_id",
        "created_at",
        "email_verified",
        "locale",
        "time_zone",
    }
    assert answer.headers["Cache-Control"] == "no-store"


def test_expires_is_the_iso_time_of_the_tokens_exp(api: Api, ada: Person) -> None:
    answer = log_in(api, ada.email, PASSWORD).json
    claims = jwt.decode(answer["access_token"], SECRET, algorithms=["HS256"])
    expires = datetime.fromisoformat(answer["expires"])
    assert expires.utcoffset() is not None
    assert expires.timestamp() == claims["exp"]
    assert claims["sub"] == ada.email


def test_token_lifetime_follows_the_setting(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="5")
    api = person(into=app).api()
    clock.step(minutes=4)
    api.get("/account")
    clock.step(minutes=2)
    assert api.get("/account", 401).detail == "Could not validate credentials"


@for_each(
    ("email", "password"),
    [
        ("ada@example.com", "wrong"),
        ("unknown@example.com", PASSWORD),
        ("ada@example.com", "x" * 73),
        ("ada@example.com", f"{PASSWORD}\udcff".encode(errors="replace").decode()),
        ("ada@example.com", "ü" * 40),
        ("ada@example.com", f"{PASSWORD}\0"),
    ],
)
def test_wrong_credentials_return_one_error(
    api: Api, ada: Person, email: str, password: str
) -> None:
    answer = log_in(api, email, password, 400)
    assert answer.detail == "Incorrect email or password"
    assert answer.json["code"] == "incorrect_credentials"


@pytest.mark.parametrize(("events", "recorded"), [("false", []), ("true", ["INSERT"])])
def test_login_locks_the_account_row_and_runs_few_queries(
    make_app: MakeApp, ada: Person, backend: Backend, events: str, recorded: list[str]
) -> None:
    app = make_app(AUDIT__EVENTS=events)
    with noted_queries(app) as queries:
        log_in(Api(app), ada.email, PASSWORD)
    statements = [query.split()[0] for query in queries]
    # SQLite has no SELECT ... FOR UPDATE, so an UPDATE that changes nothing locks the row.
    lock = "UPDATE" if backend.name == "sqlite" else "SELECT"
    assert statements == ["SELECT", lock, "UPDATE", "SELECT", "SELECT", *recorded]
    assert ("FOR NO KEY UPDATE" in queries[1]) == (backend.name == "postgresql")


def test_emails_are_compared_case_insensitively(api: Api, person: MakePerson) -> None:
    person("Grace")
    assert log_in(api, "GRACE@Example.COM", PASSWORD).json["account"]["email"] == (
        "grace@example.com"
    )


@for_each("status", ["inactive", "suspended", "on holiday"])
def test_account_with_inactive_status_cannot_sign_in(
    api: Api, person: MakePerson, status: str
) -> None:
    ivan = person(new_name("ivan"), status=status).email
    assert log_in(api, ivan, PASSWORD, 400).detail == "Inactive account"
    assert log_in(api, ivan, "wrong", 400).detail == "Incorrect email or password"


def test_both_active_statuses_sign_in(api: Api, person: MakePerson) -> None:
    person("olga", status="online")
    log_in(api, "olga@example.com", PASSWORD)


def test_active_statuses_are_configurable(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__ACTIVE_STATUSES='["trial"]')
    api = person("tess", into=app, status="trial").api()
    api.get("/account")
    person("ada", into=app)
    assert log_in(Api(app), "ada@example.com", PASSWORD, 400).detail == "Inactive account"


def test_missing_form_fields_are_named(api: Api) -> None:
    assert api.post("/login", 422, data={"x": "y"}).faults == ["form:username", "form:password"]


def test_repeated_form_field_is_rejected(api: Api) -> None:
    form = {"username": ["a@example.com", "b@example.com"], "password": "x"}
    assert api.post("/login", 422, data=form).faults == ["form:username"]


def test_json_body_is_rejected(api: Api) -> None:
    api.post("/login", 415, json={"username": "ada@example.com", "password": PASSWORD})


def test_hash_with_lower_cost_is_renewed_at_sign_in(make_app: MakeApp, person: MakePerson) -> None:
    person("ada", into=make_app(AUTH__BCRYPT_ROUNDS="4"))
    app = make_app(AUTH__BCRYPT_ROUNDS="5")
    log_in(Api(app), "ada@example.com", PASSWORD)
    with app.app_context():
        assert service(Accounts).get("ada@example.com").password_hash.startswith("$2b$05$")
    log_in(Api(app), "ada@example.com", PASSWORD)


def test_concurrent_sign_ins_renew_the_hash(make_app: MakeApp, person: MakePerson) -> None:
    ada = person("ada")
    app = make_app(AUTH__BCRYPT_ROUNDS="5")
    form = {"username": ada.email, "password": PASSWORD}
    login = request(Api(app), "POST", "/login", data=form)
    for _ in range(5):
        ada.change(password=PASSWORD)
        assert run_concurrently(*[login] * 6) == [200] * 6


@pytest.mark.parametrize("rounds", ["4", "5"], ids=["current cost", "lower cost"])
def test_password_changed_during_the_check_is_rejected(
    rounds: str, make_app: MakeApp, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Api(make_app(AUTH__BCRYPT_ROUNDS=rounds))
    check = Passwords.check

    def check_then_change(self: Passwords, password: str, stored: str | None) -> PasswordCheck:
        tried = check(self, password, stored)
        if tried.right:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(ada.change, password="another horse battery").result()
        return tried

    with monkeypatch.context() as patch:
        patch.setattr(Passwords, "check", check_then_change)
        log_in(api, ada.email, PASSWORD, 400)
    log_in(api, ada.email, "another horse battery")


def test_account_without_a_password_rejects_every_password(api: Api, app: Flask) -> None:
    with app.app_context():
        service(Accounts).create("sso@example.com", None)
    for password in ("", "None", "x"):
        log_in(api, "sso@example.com", password, 400)


def test_concurrent_creation_makes_one_account_per_email(api: Api, app: Flask) -> None:
    def create(_: int) -> str:
        with app.app_context():
            try:
                service(Accounts).create("Ada@example.com", PASSWORD)
            except Exception as error:
                return type(error).__name__
            return "created"

    with ThreadPoolExecutor(8) as threads:
        outcomes = sorted(threads.map(create, range(8)))
    assert outcomes == ["EmailTaken"] * 7 + ["created"]


def test_events_are_emitted_per_application(make_app: MakeApp, person: MakePerson) -> None:
    notified: list[tuple[str, str]] = []
    first, second = make_app(), make_app()
    listen_to(
        first, "account-logged-in", lambda account, options: notified.append(("1", account.email))
    )
    listen_to(
        second, "account-logged-in", lambda account, options: notified.append(("2", account.email))
    )
    person("ada", into=first).token()
    assert notified == [("1", "ada@example.com")]


def test_listener_runs_in_the_transaction_and_can_abort_it(app: Flask, ada: Person) -> None:
    def refuse(account: Any, options: dict[str, Any]) -> None:
        account.phone = "+15005550006"
        options["session"].flush()
        raise RuntimeError("not today")

    listen_to(app, "account-logged-in", refuse)
    log_in(Api(app), ada.email, PASSWORD, 500)
    with app.app_context():
        account: Any = service(Accounts).get(ada.email)
        assert account.phone is None
        assert account.last_login_date is None


def listen_to(app: Flask, event: str, listener: Callable[[Any, dict[str, Any]], object]) -> None:
    app.extensions["frontdesk"].actions.on(event, listener)


def test_blank_username_is_incorrect(api: Api) -> None:
    answer = api.post("/login", 400, data={"username": "  ", "password": "x"})
    assert answer.detail == "Incorrect email or password"


def test_password_check_holds_no_database_connection(
    app: Flask, api: Api, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    with app.app_context():
        passwords, pool = service(Accounts).passwords, app.extensions["sqlalchemy"].engine.pool
    check = passwords.check
    connections: list[int] = []

    def check_and_record(*args: Any) -> Any:
        connections.append(pool.checkedout())
        return check(*args)

    monkeypatch.setattr(passwords, "check", check_and_record)
    log_in(api, ada.email, PASSWORD)
    log_in(api, ada.email, "wrong", 400)
    assert connections == [0, 0]
