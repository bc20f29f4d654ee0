"""Stages of the sign-in policy, which run between verified credentials and the session."""

from __future__ import annotations

from flask import Flask

from app.accounts.service import Accounts
from app.auth.sign_in.policy import Challenge, SignIn, SignInPolicy
from app.core.context import service
from app.core.errors import Forbidden
from app.testing.client import Api

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.oidc.visitor import Visitor
from ..rigs.stages import added_stages
from .test_login import log_in


class ExtraProofRequired(Forbidden):
    code = "extra_proof_required"
    detail = "An extra proof is required"


def require_extra_proof(sign_in: SignIn) -> Challenge | None:
    if "more" in sign_in.by:
        return None
    return Challenge(ExtraProofRequired(members={"after": list(sign_in.by)}))


def add_stage(app: Flask) -> None:
    added_stages(app).append(require_extra_proof)


def test_correct_password_is_challenged_and_gets_no_token(
    app: Flask, api: Api, ada: Person
) -> None:
    add_stage(app)
    answer = log_in(api, ada.email, PASSWORD, 403).json
    assert (answer["code"], answer["after"]) == ("extra_proof_required", ["password"])
    assert "access_token" not in answer
    with app.app_context():
        assert service(Accounts).get(ada.email).last_login_date is None


def test_challenge_does_not_restore_revoked_tokens(app: Flask, api: Api, ada: Person) -> None:
    before = ada.api()
    before.delete("/logout")
    add_stage(app)
    log_in(api, ada.email, PASSWORD, 403)
    assert before.get("/account", 401).detail == "Token expired"


def test_inactive_account_is_not_challenged(app: Flask, api: Api, person: MakePerson) -> None:
    person("ivan", status="suspended")
    add_stage(app)
    assert log_in(api, "ivan@example.com", PASSWORD, 400).detail == "Inactive account"
    assert log_in(api, "ivan@example.com", "wrong", 400).detail == "Incorrect email or password"


def test_changes_before_a_challenge_are_committed(make_app: MakeApp, person: MakePerson) -> None:
    person("ada", into=make_app(AUTH__BCRYPT_ROUNDS="4"))
    app = make_app(AUTH__BCRYPT_ROUNDS="5")
    add_stage(app)
    log_in(Api(app), "ada@example.com", PASSWORD, 403)
    with app.app_context():
        assert service(Accounts).get("ada@example.com").password_hash.startswith("$2b$05$")


def test_extra_proof_passes_the_stage(app: Flask, ada: Person) -> None:
    add_stage(app)
    with app.app_context():
        account = service(Accounts).get(ada.email)
        outcome = service(SignInPolicy).admit(account, by=("password", "more"))
        assert not isinstance(outcome, Challenge)
        token = outcome.payload["access_token"]
    Api(app, token=token).get("/account")


def test_provider_sign_in_runs_the_same_stages(visitor: Visitor) -> None:
    add_stage(visitor.api.app)
    create_account_without_password(visitor.api.app)
    assert visitor.sign_in("ada", 403).json["after"] == ["provider"]


def create_account_without_password(app: Flask) -> None:
    with app.app_context():
        service(Accounts).create("ada@example.com", None)
