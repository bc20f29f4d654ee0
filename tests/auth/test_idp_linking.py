"""Account linking: the table of AUTH.IDP_LINKING, and the confirmation by the owner."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from sqlalchemy import select

from app.accounts.service import Accounts
from app.auth.idp.identities import Identities
from app.auth.idp.models import Identity
from app.auth.idp.providers import Providers
from app.core.context import service
from app.core.db.transaction import transaction
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import Person

from ..conftest import MakePerson, only_on
from ..registration.visitors import code_in
from ..rigs.cases import new_name
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of
from ..rigs.oidc.fakes import TENANT, Google, Microsoft
from ..rigs.racing import run_concurrently

ISSUER = "https://accounts.google.com"
CONFIRM = "/account/identities/confirm"
SIGNED_IN, LINKED, RECLAIMED = "signed in", "linked", "reclaimed"
VERIFIED: dict[str, object] = {"email_verified": True}
# What the provider says about the address.
NOT_VERIFIED: list[dict[str, object]] = [{"email_verified": False}, {}, {"email_verified": "true"}]
# The states of the account.
STATES: dict[str, dict[str, Any]] = {
    "verified": {},
    "not verified": {"email_unverified_since": datetime(2020, 1, 1, tzinfo=UTC)},
    "suspended": {"status": "suspended"},
    "deleting": {"status": "deleting"},
}
# By the setting, for each of the states.
UNKNOWN = {
    "auto": (LINKED, RECLAIMED, "inactive_account", "account_deleting"),
    "confirm": ("link_confirmation_required", RECLAIMED, "inactive_account", "account_deleting"),
    "never": ("link_refused", RECLAIMED, "inactive_account", "account_deleting"),
}
KNOWN = (SIGNED_IN, SIGNED_IN, "inactive_account", "account_deleting")


def code_of(answer: Any) -> str:
    return str(answer.json["code"])


def link(person: Person, subject: str) -> None:
    with person.app.app_context():
        accounts = service(Accounts)
        with transaction(accounts.session):
            provider = service(Providers).find("google")
            account = accounts.get(person.email)
            service(Identities).link(account, provider, ISSUER, subject, person.email)


def subjects(person: Person) -> list[str]:
    with person.app.app_context():
        query = select(Identity.subject).where(Identity.account_id == person.id)
        return list(service(Accounts).session.scalars(query))


def sign_in(person: Person, google: Google, subject: str, **claims: object) -> Answer:
    """Sign in at Google with the address of an account, and return any answer."""
    guest = Guest(person.app, "google")
    found = google.authorize(guest.begin(), sub=subject, email=person.email, **claims)
    body = {"code": found["code"], "state": found["state"]}
    return Answer(guest.api.client.post("/api/v1/idp/google/callback", json=body))


def outcome_of(person: Person, answer: Answer, before: list[str]) -> str:
    if answer.status != 200:
        assert subjects(person) == before
        return code_of(answer)
    assert answer.json["account"]["id"] == person.id
    if before:
        return SIGNED_IN
    with person.app.app_context():
        is_reclaimed = service(Accounts).get(person.email).password_hash is None
    return RECLAIMED if is_reclaimed else LINKED


@only_on("sqlite")
@pytest.mark.parametrize("mode", UNKNOWN)
def test_linking_matrix(
    make_providers_app: MakeProvidersApp,
    person: MakePerson,
    google: Google,
    mails: MailOutbox,
    mode: str,
    subtests: pytest.Subtests,
) -> None:
    app = make_providers_app(google=client_of("google"), AUTH__IDP_LINKING=mode)
    cases = product((False, True), (VERIFIED, *NOT_VERIFIED), enumerate(STATES))
    for is_known, claims, (number, state) in cases:
        with subtests.test(known=is_known, claims=claims, state=state):
            ada = person(new_name("ada"), into=app, **STATES[state])
            if is_known:
                link(ada, ada.email)
            mails.clear()
            known = subjects(ada)
            outcome = outcome_of(ada, sign_in(ada, google, ada.email, **claims), known)
            if is_known:
                assert outcome == KNOWN[number]
            elif claims == VERIFIED:
                assert outcome == UNKNOWN[mode][number]
            else:
                assert outcome == "email_not_verified"
            is_new = outcome in (LINKED, RECLAIMED)
            assert subjects(ada) == ([ada.email] if is_known or is_new else [])
            assert [mail.to for mail in mails.sent] == ([ada.email] if is_new else [])


@only_on("sqlite")
@pytest.mark.parametrize("mode", UNKNOWN)
def test_linking_matrix_of_addresses_that_a_code_verifies(
    make_providers_app: MakeProvidersApp,
    person: MakePerson,
    microsoft: Microsoft,
    mails: MailOutbox,
    mode: str,
    subtests: pytest.Subtests,
) -> None:
    client = client_of("microsoft", tenant=TENANT)
    app = make_providers_app(microsoft=client, AUTH__IDP_LINKING=mode)
    for number, state in enumerate(STATES):
        with subtests.test(state=state):
            ada = person(new_name("ada"), into=app, **STATES[state])
            answer = Guest(app, "microsoft").sign_in(microsoft, 403, sub=ada.email, email=ada.email)
            assert (code_of(answer), subjects(ada)) == ("email_code_required", [])
            code = code_in(mails.last(ada.email).text)
            body = {"login_id": answer.json["login_id"], "code": code}
            verified = Answer(Api(app).client.post("/api/v1/idp/microsoft/verify", json=body))
            assert outcome_of(ada, verified, []) == UNKNOWN[mode][number]
            assert subjects(ada) == ([ada.email] if verified.status == 200 else [])


@pytest.fixture
def make_ada(make_providers_app: MakeProvidersApp, person: MakePerson) -> Callable[..., Person]:
    def make(mode: str = "confirm", account: Any = None, **environment: str) -> Person:
        environment = {"AUTH__IDP_LINKING": mode, **environment}
        app = make_providers_app(google=client_of("google"), **environment)
        return person("ada", into=app, **(account or {}))

    return make


def link_token(person: Person, google: Google, subject: str = "1") -> dict[str, str]:
    answer = sign_in(person, google, subject, email_verified=True)
    assert (answer.status, code_of(answer)) == (403, "link_confirmation_required")
    return {"link_token": answer.json["link_token"]}


@only_on("sqlite")
@pytest.mark.parametrize("mode", UNKNOWN)
def test_another_user_of_the_provider_is_rejected_whatever_the_setting(
    make_ada: Callable[..., Person], google: Google, mode: str
) -> None:
    ada = make_ada(mode)
    link(ada, "1")
    assert code_of(sign_in(ada, google, "2", email_verified=True)) == "linked_to_another"
    assert subjects(ada) == ["1"]


@only_on("sqlite")
@pytest.mark.parametrize("mode", UNKNOWN)
def test_pending_account_is_reclaimed_with_its_identities(
    make_ada: Callable[..., Person], google: Google, mode: str
) -> None:
    ada = make_ada(mode, {**STATES["not verified"], "status": "pending"})
    link(ada, "attacker")
    assert sign_in(ada, google, "owner", email_verified=True).status == 200
    assert subjects(ada) == ["owner"]
    assert code_of(sign_in(ada, google, "attacker", email_verified=True)) == "linked_to_another"


@pytest.mark.parametrize("keystore", ["", "database"])
def test_owner_confirms_a_link_once(
    make_ada: Callable[..., Person],
    person: MakePerson,
    google: Google,
    mails: MailOutbox,
    keystore: str,
) -> None:
    ada = make_ada(**({"CORE__KEYSTORE": keystore} if keystore else {}))
    token = link_token(ada, google)
    assert code_of(person("eve", into=ada.app).api().post(CONFIRM, 400, json=token)) == (
        "invalid_token"
    )
    mails.clear()
    identity = ada.api().post(CONFIRM, json=token).json
    assert (identity["provider"], identity["issuer"]) == ("google", ISSUER)
    assert (identity["email"], subjects(ada)) == (ada.email, ["1"])
    assert [mail.to for mail in mails.sent] == [ada.email]
    assert sign_in(ada, google, "1").json["account"]["id"] == ada.id
    # Not even after the link has been removed.
    ada.app.test_cli_runner().invoke(args=["accounts", "unlink", ada.email])
    assert code_of(ada.api().post(CONFIRM, 400, json=token)) == "invalid_token"
    assert subjects(ada) == []


def test_two_confirmations_at_once_link_once(
    make_ada: Callable[..., Person], google: Google
) -> None:
    ada = make_ada()
    token = link_token(ada, google)
    clients = [ada.api() for _ in range(4)]
    calls = [
        lambda api=api: (
            Answer(
                api.client.post(
                    f"/api/v1{CONFIRM}",
                    json=token,
                    headers={"Authorization": f"Bearer {api.token}"},
                )
            ).status
        )
        for api in clients
    ]
    assert run_concurrently(*calls) == [200, 400, 400, 400]
    assert subjects(ada) == ["1"]


@only_on("sqlite")
def test_confirmation_needs_a_recent_sign_in_and_a_recent_token(
    make_ada: Callable[..., Person], google: Google, clock: SteppingClock
) -> None:
    ada = make_ada()
    old = ada.api()
    clock.step(minutes=16)
    token = link_token(ada, google)
    assert code_of(Api(ada.app).post(CONFIRM, 401, json=token)) == "invalid_credentials"
    assert code_of(old.post(CONFIRM, 401, json=token)) == "reauthentication_required"
    clock.step(minutes=11)
    assert code_of(ada.api().post(CONFIRM, 400, json=token)) == "invalid_token"
    assert subjects(ada) == []


@only_on("sqlite")
def test_link_token_ends_with_a_change_of_the_account_or_another_link(
    make_ada: Callable[..., Person], google: Google
) -> None:
    ada = make_ada()
    token = link_token(ada, google)
    other = link_token(ada, google, "2")
    ada.api().post(CONFIRM, json=token)
    assert code_of(ada.api().post(CONFIRM, 400, json=other)) == "linked_to_another"
    ada.app.test_cli_runner().invoke(args=["accounts", "unlink", ada.email])
    token = link_token(ada, google)
    ada.change(email="countess@example.com")
    ada.email = "countess@example.com"
    assert code_of(ada.api().post(CONFIRM, 400, json=token)) == "invalid_token"
    assert ada.api().post(CONFIRM, 422, json={}).faults == ["json:link_token"]


@only_on("sqlite")
def test_confirmation_without_providers_is_off(ada: Person) -> None:
    assert code_of(Api(ada.app).post(CONFIRM, 404, json={"link_token": "x"})) == "feature_off"
