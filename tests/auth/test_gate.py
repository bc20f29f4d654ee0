"""The gate between "proved who it is" and "signed in", whichever way somebody comes."""

from __future__ import annotations

from flask import Flask

from app.accounts.service import Accounts
from app.auth.sign_in.gate import Challenge, Gate, SignIn
from app.core.context import service
from app.core.errors import Forbidden
from app.testing.client import Api

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.oidc.visitor import Visitor
from ..rigs.stages import added_stages
from .test_login import log_in


class SomethingMore(Forbidden):
    code = "something_more"
    detail = "Something more is required"


def ask_for_more(sign_in: SignIn) -> Challenge | None:
    if "more" in sign_in.by:
        return None
    return Challenge(SomethingMore(members={"after": list(sign_in.by)}))


def add_stage(app: Flask) -> None:
    added_stages(app).append(ask_for_more)


def test_a_right_password_is_challenged_and_signs_nobody_in(
    app: Flask, api: Api, ada: Person
) -> None:
    add_stage(app)
    answer = log_in(api, ada.email, PASSWORD, 403).json
    assert (answer["code"], answer["after"]) == ("something_more", ["password"])
    assert "access_token" not in answer
    with app.app_context():
        assert service(Accounts).get(ada.email).last_login_date is None


def test_a_challenge_brings_no_token_back_to_life(app: Flask, api: Api, ada: Person) -> None:
    before = ada.api()
    before.delete("/logout")
    add_stage(app)
    log_in(api, ada.email, PASSWORD, 403)
    assert before.get("/account", 401).detail == "Token expired"


def test_who_must_not_sign_in_is_not_asked_for_more(
    app: Flask, api: Api, person: MakePerson
) -> None:
    person("ivan", status="suspended")
    add_stage(app)
    assert log_in(api, "ivan@example.com", PASSWORD, 400).detail == "Inactive account"
    assert log_in(api, "ivan@example.com", "wrong", 400).detail == "Incorrect email or password"


def test_what_was_written_before_a_challenge_stays(make_app: MakeApp, person: MakePerson) -> None:
    person("ada", into=make_app(AUTH__BCRYPT_ROUNDS="4"))
    app = make_app(AUTH__BCRYPT_ROUNDS="5")
    add_stage(app)
    log_in(Api(app), "ada@example.com", PASSWORD, 403)
    with app.app_context():
        assert service(Accounts).get("ada@example.com").password_hash.startswith("$2b$05$")


def test_a_further_proof_passes_the_stage(app: Flask, ada: Person) -> None:
    add_stage(app)
    with app.app_context():
        account = service(Accounts).get(ada.email)
        outcome = service(Gate).admit(account, by=("password", "more"))
        assert not isinstance(outcome, Challenge)
        token = outcome.payload["access_token"]
    Api(app, token=token).get("/account")


def test_whoever_comes_from_a_provider_meets_the_same_stages(visitor: Visitor) -> None:
    add_stage(visitor.api.app)
    make_person_of_the_provider(visitor.api.app)
    assert visitor.sign_in("ada", 403).json["after"] == ["provider"]


def make_person_of_the_provider(app: Flask) -> None:
    with app.app_context():
        service(Accounts).create("ada@example.com", None)
