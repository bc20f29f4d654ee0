"""Sign-in and sign-out by the application's own code."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from flask import Flask, request

from app import (
    AccountNotFound,
    Frontdesk,
    InactiveAccount,
    IncorrectCredentials,
    Parts,
    Problem,
    TooManyAttempts,
    account_optional,
    current_account,
)
from app.accounts.account import Account
from app.accounts.service import Accounts
from app.auth.settings import AuthSettings
from app.auth.sign_in.policy import Challenge, SignIn
from app.blueprints import auth
from app.core.context import service
from app.core.errors import Forbidden
from app.testing.client import Api
from app.testing.people import PASSWORD, Person, make_person

from ..rigs.hosts import HostSettings, host_with
from ..rigs.stages import AddedStages, added_stages


@pytest.fixture
def frontdesk() -> Frontdesk:
    return Frontdesk()


@pytest.fixture
def host(frontdesk: Frontdesk) -> Flask:
    parts = Parts(sign_in_stages=[AddedStages()])
    host = host_with((auth, ""), frontdesk=frontdesk, parts=parts)

    @host.post("/enter")
    def enter() -> dict[str, Any]:
        """A minimal login page of the application."""
        account = frontdesk.verify_password(request.form["email"], request.form["password"])
        return frontdesk.sign_in(account, how="password")

    @host.get("/me")
    @account_optional
    def me() -> dict[str, Any]:
        account = frontdesk.current_account
        return {"email": account.email if account else None}

    return host


@pytest.fixture
def ada(host: Flask) -> Person:
    return make_person(host, "ada")


def enter(host: Flask, status: int = 200, password: str = PASSWORD) -> Any:
    form = {"email": "ada@example.com", "password": password}
    return Api(host, "").post("/enter", status, data=form)


def test_application_view_returns_what_the_login_route_returns(host: Flask, ada: Person) -> None:
    own = enter(host).json
    ours = Api(host, "").post("/login", data={"username": ada.email, "password": PASSWORD}).json
    assert own.keys() == ours.keys()
    assert own["account"].keys() == ours["account"].keys()
    assert datetime.fromisoformat(own["expires"]).utcoffset() is not None
    assert Api(host, "", own["access_token"]).get("/me").json == {"email": ada.email}


def test_current_account_is_none_without_a_token(host: Flask) -> None:
    assert Api(host, "").get("/me").json == {"email": None}


def test_wrong_passwords_share_a_limit_with_the_login_route(host: Flask, ada: Person) -> None:
    form = {"username": ada.email, "password": "wrong"}
    for _ in range(3):
        Api(host, "").post("/login", 400, data=form)
    for _ in range(2):
        assert enter(host, 400, "wrong").detail == "Incorrect email or password"
    assert enter(host, 429).json["code"] == "too_many_attempts"
    Api(host, "").post("/login", 429, data={**form, "password": PASSWORD})


def test_guesses_outside_a_request_are_limited(
    host: Flask, frontdesk: Frontdesk, ada: Person
) -> None:
    with host.app_context():
        for _ in range(5):
            with pytest.raises(IncorrectCredentials):
                frontdesk.verify_password(ada.email, "wrong")
        with pytest.raises(TooManyAttempts):
            frontdesk.verify_password(ada.email, PASSWORD)


def test_password_is_verified_by_account_or_email(
    host: Flask, frontdesk: Frontdesk, ada: Person
) -> None:
    with host.app_context():
        account = frontdesk.verify_password("ADA@example.com", PASSWORD)
        assert frontdesk.verify_password(account, PASSWORD) is account
        with pytest.raises(IncorrectCredentials):
            frontdesk.verify_password("unknown@example.com", PASSWORD)


def test_verification_keeps_pending_changes_of_the_session(
    host: Flask, frontdesk: Frontdesk, ada: Person
) -> None:
    session = host.extensions["sqlalchemy"].session
    with host.app_context():
        account = frontdesk.accounts.get(ada.email)
        account.phone = "+4930123456"
        session.add(Account(email="grace@example.com"))
        frontdesk.verify_password(account, PASSWORD)
        session.commit()
    with host.app_context():
        assert frontdesk.accounts.get(ada.email).phone == "+4930123456"
        assert frontdesk.accounts.find("grace@example.com") is not None


def test_correct_password_renews_the_hash(frontdesk: Frontdesk) -> None:
    settings = HostSettings()
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=5)
    host = host_with(frontdesk=frontdesk, settings=settings)
    ada = make_person(host, "ada")
    with host.app_context():
        service(Accounts).passwords.rounds = 6
        account = frontdesk.verify_password(ada.email, PASSWORD)
        assert account.password_hash.startswith("$2b$06$")


def test_sign_in_notifies_listeners_and_is_stored(
    host: Flask, frontdesk: Frontdesk, ada: Person
) -> None:
    notified: list[str] = []
    frontdesk.on("account-logged-in")(lambda account, _options: notified.append(account.email))
    with host.app_context():
        frontdesk.sign_in(frontdesk.accounts.get(ada.email), how="magic link")
    with host.app_context():
        assert frontdesk.accounts.get(ada.email).last_login_date is not None
    assert notified == [ada.email]


def test_inactive_account_cannot_sign_in(host: Flask, frontdesk: Frontdesk) -> None:
    ivan = make_person(host, "ivan", status="suspended")
    with host.app_context():
        account = frontdesk.verify_password(ivan.email, PASSWORD)
        with pytest.raises(InactiveAccount):
            frontdesk.sign_in(account)


class ExtraProofRequired(Forbidden):
    code = "extra_proof_required"
    detail = "An extra proof is required"


def test_sign_in_policy_challenges_application_code_too(
    host: Flask, frontdesk: Frontdesk, ada: Person
) -> None:
    def require_extra_proof(sign_in: SignIn) -> Challenge | None:
        more = ExtraProofRequired(members={"after": list(sign_in.by)})
        return None if "code" in sign_in.by else Challenge(more)

    with host.app_context():
        added_stages(host).append(require_extra_proof)
        account = frontdesk.accounts.get(ada.email)
        for how in ("host", "password"):
            with pytest.raises(ExtraProofRequired) as error:
                frontdesk.sign_in(account, how=how)
            assert error.value.members == {"after": [how]}
        assert frontdesk.sign_in(account, how=["password", "code"])["access_token"]
    assert enter(host, 403).json["after"] == ["password"]


def test_sign_out_revokes_every_token_until_the_next_sign_in(
    host: Flask, frontdesk: Frontdesk, ada: Person
) -> None:
    notified: list[str] = []
    frontdesk.on("account-logged-out")(lambda account, _options: notified.append(account.email))
    api = ada.api()
    with host.app_context():
        frontdesk.sign_out(frontdesk.accounts.get(ada.email))
    assert api.get("/account", 401).detail == "Token expired"
    assert notified == [ada.email]
    with host.app_context():
        frontdesk.sign_in(frontdesk.accounts.get(ada.email))
    api.get("/account")


def test_deleted_account_cannot_sign_in_or_out(
    host: Flask, frontdesk: Frontdesk, ada: Person
) -> None:
    with host.app_context():
        account = frontdesk.accounts.get(ada.email)
        host.extensions["sqlalchemy"].session.expunge(account)
        frontdesk.accounts.delete(frontdesk.accounts.get(ada.email))
        for action in (frontdesk.sign_in, frontdesk.sign_out):
            with pytest.raises(AccountNotFound):
                action(account)


def test_sign_in_is_rolled_back_with_the_transaction(
    host: Flask, frontdesk: Frontdesk, ada: Person
) -> None:
    api = ada.api()
    api.delete("/logout")

    def sign_in_and_fail() -> None:
        with frontdesk.transaction():
            frontdesk.sign_in(frontdesk.accounts.get(ada.email))
            raise LookupError("rolled back")

    with host.app_context(), pytest.raises(LookupError):
        sign_in_and_fail()
    assert api.get("/account", 401).detail == "Token expired"


def test_account_of_a_request_without_a_decorator(
    host: Flask, frontdesk: Frontdesk, ada: Person
) -> None:
    def error(**headers: str) -> Any:
        with host.test_request_context(headers=headers) as context:
            return frontdesk.account_of(context.request)

    assert error() is None
    assert error(Authorization=f"Bearer {ada.token()}").email == ada.email
    with pytest.raises(Problem):
        error(Authorization="Bearer a.b.c")


def test_current_account_without_a_decorator_raises(host: Flask, ada: Person) -> None:
    host.add_url_rule("/caller", "caller", lambda: {"email": current_account.email})
    host.testing = True
    with pytest.raises(RuntimeError, match=r"'caller', which has no authentication decorator"):
        ada.api().get("/caller")


def test_current_account_is_false_without_a_decorator(host: Flask, ada: Person) -> None:
    host.add_url_rule("/page", "page", lambda: "signed in" if current_account else "anonymous")
    assert ada.api().get("/page").response.text == "anonymous"
