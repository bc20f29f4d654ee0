"""Changing the password while signed in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.auth.proof_names import PROVIDER
from app.auth.sign_in.policy import SignInPolicy, SignInResult
from app.auth.step_up.service import Freshness
from app.core.context import service
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, Person
from ..rigs.cases import for_each
from ..rigs.racing import run_concurrently
from .test_login import log_in

NEW = "a password never seen before"


def change(api: Api, status: int = 200, **more: str) -> Api:
    body = {"current_password": PASSWORD, "new_password": NEW, **more}
    answer = api.put("/account/password", status, json=body)
    return Api(api.app, token=answer.json.get("access_token"))


def test_change_revokes_all_tokens_and_returns_a_new_one(
    ada: Person, api: Api, mails: MailOutbox
) -> None:
    here, elsewhere = ada.api(), ada.api()
    renewed = change(here)
    assert renewed.get("/account").json["email"] == ada.email
    for old_api in (here, elsewhere):
        assert old_api.get("/account", 401).detail == "Could not validate credentials"
    log_in(api, ada.email, PASSWORD, 400)
    log_in(api, ada.email, NEW)
    notice = mails.assert_sent(ada.email, "password was changed")
    assert "http://localhost:3000/forgot" in notice.text


def test_change_invalidates_pending_reset_token(ada: Person, api: Api, mails: MailOutbox) -> None:
    api.post("/password-recovery", json={"email": ada.email})
    token = mails.last(ada.email).text.partition("?token=")[2].split()[0]
    change(ada.api())
    body = {"token": token, "new_password": "yet another password"}
    api.post("/reset-password", 400, json=body)


def test_wrong_current_password_is_rejected_and_counted(ada: Person, mails: MailOutbox) -> None:
    here = ada.api()
    for _ in range(5):
        answer = here.put(
            "/account/password", 400, json={"current_password": "wrong", "new_password": NEW}
        )
        assert answer.detail == "Incorrect email or password"
    assert change(here, 429).token is None
    mails.assert_empty()


@for_each(
    ("more", "fault"),
    [
        ({"new_password": PASSWORD}, "json:new_password"),
        ({"new_password": "short"}, "json:new_password"),
        ({"new_password": "ada@example.com"}, "json:new_password"),
        ({"new_password": "password123"}, "json:new_password"),
    ],
)
def test_invalid_new_password_is_a_422(ada: Person, more: dict[str, str], fault: str) -> None:
    body = {"current_password": PASSWORD, "new_password": NEW, **more}
    assert ada.api().put("/account/password", 422, json=body).faults == [fault]


def test_current_password_is_required(ada: Person) -> None:
    answer = ada.api().put("/account/password", 422, json={"new_password": NEW})
    assert answer.faults == ["json:current_password"]


def test_change_requires_an_active_account(api: Api, ada: Person) -> None:
    api.put("/account/password", 401, json={})
    here = ada.api()
    ada.change(status="suspended")
    assert here.put("/account/password", 401, json={}).json["code"] == "account_inactive"


def test_only_one_concurrent_change_succeeds(ada: Person, api: Api) -> None:
    here = ada.api()

    def ask(new: str) -> int:
        body = {"current_password": PASSWORD, "new_password": new}
        headers = {"Authorization": f"Bearer {here.token}"}
        client = here.app.test_client()
        return client.put("/api/v1/account/password", json=body, headers=headers).status_code

    answers = run_concurrently(
        *(lambda each=each: ask(f"the {each} new password") for each in range(4))
    )
    assert answers.count(200) == 1
    assert set(answers) <= {200, 400, 401}


def test_concurrent_change_by_operator_is_kept(
    ada: Person, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Freshness.check

    def check_then_change(*args: Any, **options: Any) -> str | None:
        matched = check(*args, **options)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(ada.change, password="another horse battery").result()
        return matched

    here = ada.api()
    with monkeypatch.context() as patch:
        patch.setattr(Freshness, "check", check_then_change)
        change(here, 400)
    log_in(api, ada.email, ada.password)


def test_account_without_password_needs_a_fresh_sign_in(
    make_app: MakeApp, clock: SteppingClock
) -> None:
    app = make_app(AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60")
    token = _sign_in_without_password(app)
    clock.step(minutes=16)
    stale = Api(app, token=token)
    answer = stale.put("/account/password", 403, json={"new_password": NEW})
    assert answer.json["code"] == "fresh_sign_in_required"
    with app.app_context():
        outcome = service(SignInPolicy).admit(
            service(Accounts).get("ada@example.com"), by=(PROVIDER,)
        )
        assert isinstance(outcome, SignInResult)
        token = outcome.payload["access_token"]
    Api(app, token=token).put("/account/password", json={"new_password": NEW})
    log_in(Api(app), "ada@example.com", NEW)


def _sign_in_without_password(app: Flask) -> str:
    with app.app_context():
        account = service(Accounts).create("ada@example.com", None)
        outcome = service(SignInPolicy).admit(account, by=(PROVIDER,))
        assert isinstance(outcome, SignInResult)
        return str(outcome.payload["access_token"])
