"""The hook `provider_claims`: the application's use of the claims of an identity provider."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.auth.errors import SignInRefused
from app.auth.idp.identities import Identities
from app.auth.sign_in.policy import SignInPolicy
from app.core.context import service
from app.core.db.transaction import is_locked

from ..conftest import MakePerson, Person
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of
from ..rigs.oidc.fakes import Google

ADA: dict[str, Any] = {
    "sub": "1",
    "email": "ada@example.com",
    "email_verified": True,
    "hd": "example.com",
}


@pytest.fixture
def idp_app(make_providers_app: MakeProvidersApp, google: Google) -> Flask:
    return make_providers_app(google=client_of("google"))


@pytest.fixture
def ada(idp_app: Flask, person: MakePerson) -> Person:
    return person("ada", into=idp_app)


def test_hook_gets_the_locked_account_and_the_claims_before_the_token_is_signed(
    idp_app: Flask, ada: Person, google: Google
) -> None:
    calls: list[tuple[Any, ...]] = []

    def promote(account: Any, provider: str, claims: Any, session: Any) -> None:
        calls.append((account.id, provider, claims["hd"], is_locked(session, account)))
        account.role = "admin"

    def note_role(account: Any, session: Any) -> dict[str, Any]:
        calls.append((account.role,))
        return {}

    hooks = idp_app.extensions["frontdesk"].hooks
    hooks.add("provider_claims", promote)
    hooks.add("claims", note_role)
    answer = Guest(idp_app, "google").sign_in(google, **ADA)
    assert answer.json["account"]["role"] == "admin"
    assert calls == [(ada.id, "google", "example.com", True), ("admin",)]


def test_problem_of_the_hook_is_the_response_and_undoes_its_changes(
    idp_app: Flask, ada: Person, google: Google
) -> None:
    def reject(account: Any, provider: str, claims: Any, session: Any) -> None:
        account.role = "admin"
        session.flush()
        raise SignInRefused

    idp_app.extensions["frontdesk"].hooks.add("provider_claims", reject)
    Guest(idp_app, "google").sign_in(google, 400, **ADA)
    with idp_app.app_context():
        assert service(Accounts).get(ada.email).role == "user"


def test_identity_that_is_unlinked_during_a_sign_in_is_rejected(
    idp_app: Flask, ada: Person, google: Google, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []
    idp_app.extensions["frontdesk"].hooks.add(
        "provider_claims", lambda account, provider, claims, session: calls.append(account)
    )
    guest = Guest(idp_app, "google")
    guest.sign_in(google, **ADA)

    def unlink_first(policy: SignInPolicy, account: Any, by: Any) -> None:
        service(Identities).unlink(account)

    monkeypatch.setattr(SignInPolicy, "lock", unlink_first)
    assert guest.sign_in(google, 400, **ADA).json["code"] == "sign_in_refused"
    assert len(calls) == 1
