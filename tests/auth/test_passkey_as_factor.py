"""Passkeys with MFA enabled: as a second factor, or instead of password and second factor."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each
from ..rigs.racing import request, run_concurrently
from .factors import challenge, enrolled, finish
from .passkey_holder import Holder
from .test_login import log_in
from .test_passkeys import jwt_claims, stored

ADA = "ada@example.com"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="optional")


@pytest.fixture
def holder(ada: Person) -> Holder:
    """Return a holder with a passkey, signed in with the token that enrollment returned."""
    holder = Holder(ada.api())
    answer = holder.add(status=200).json
    holder.api = holder.api.as_token(answer["access_token"])
    return holder


def sign_challenge(holder: Holder, mfa_token: str, **forged: Any) -> dict[str, Any]:
    """Sign the challenge for the MFA token with the newest passkey."""
    body = {"mfa_token": mfa_token}
    options = holder.anonymous.post("/login/passkey/options", json=body).json
    return holder.authenticator.get(options, **forged)


def test_first_passkey_returns_recovery_codes_and_an_mfa_token(
    ada: Person, mails: MailOutbox
) -> None:
    before = ada.api()
    holder = Holder(before)
    answer = holder.add(status=200).json
    assert len(answer["recovery_codes"]) == 10
    assert jwt_claims(answer["access_token"])["amr"] == ["hwk", "user", "mfa"]
    mails.assert_sent(ADA, "a passkey was added", "Laptop")
    before.get("/account", 401)
    here = before.as_token(answer["access_token"])
    assert [each["kind"] for each in here.get("/authenticators").json] == ["passkey"]
    assert Holder(here).add(status=200).json["recovery_codes"] is None


def test_password_requires_the_passkey(holder: Holder, ada: Person) -> None:
    token = challenge(holder.api, ada)
    answer = finish(holder.api, token, credential=sign_challenge(holder, token)).json
    assert jwt_claims(answer["access_token"])["amr"] == ["pwd", "hwk", "user", "mfa"]


def test_passkey_alone_signs_in(holder: Holder) -> None:
    assert holder.sign_in().json["account"]["email"] == ADA


def test_challenge_lists_the_accounts_passkeys(holder: Holder, ada: Person) -> None:
    body = {"mfa_token": challenge(holder.api, ada)}
    options = holder.anonymous.post("/login/passkey/options", json=body).json
    assert len(options["allowCredentials"]) == 1
    for malformed in ("x", "WzFd.aaaaaa.bbbbbb"):
        body = {"mfa_token": malformed}
        refused = holder.anonymous.post("/login/passkey/options", 400, json=body)
        assert refused.json["code"] == "invalid_token"


def test_assertion_for_another_purpose_is_no_second_factor(
    holder: Holder, ada: Person, person: MakePerson
) -> None:
    token = challenge(holder.api, ada)
    refused = finish(holder.api, token, 400, credential=holder.show())
    assert refused.json["code"] == "passkey_refused"
    reauthentication = holder.api.post("/reauthenticate/passkey/options").json
    finish(holder.api, token, 400, credential=holder.authenticator.get(reauthentication))
    grace = person("grace")
    attacker = Holder(grace.api())
    attacker.add(status=200)
    grace_token = challenge(attacker.api, grace)
    finish(attacker.api, token, 400, credential=sign_challenge(attacker, grace_token))
    finish(attacker.api, grace_token, 400, credential=sign_challenge(holder, token))
    finish(holder.api, token, credential=sign_challenge(holder, token))


def test_mfa_assertion_does_not_sign_in_alone(holder: Holder, ada: Person) -> None:
    token = challenge(holder.api, ada)
    holder.send(sign_challenge(holder, token), 400)


@only_on("sqlite")
@for_each("credential", [{}, [], "x", 7, None, {"id": {}}])
def test_malformed_credential_is_invalid(holder: Holder, ada: Person, credential: Any) -> None:
    finish(holder.api, challenge(holder.api, ada), 422, credential=credential)


def test_assertion_is_single_use_under_concurrency(holder: Holder, ada: Person) -> None:
    token = challenge(holder.api, ada)
    body = {"mfa_token": token, "credential": sign_challenge(holder, token)}
    calls = [request(holder.api, "POST", "/login/mfa", json=body)] * 8
    statuses = run_concurrently(*calls)
    assert statuses.count(200) == 1
    assert set(statuses) <= {200, 400, 429}


def test_cloned_passkey_is_rejected_as_second_factor(ada: Person, mails: MailOutbox) -> None:
    holder = Holder(ada.api())
    holder.authenticator.count = 5
    holder.add(status=200)
    token = challenge(holder.api, ada)
    finish(holder.api, token, 400, credential=sign_challenge(holder, token, count=2))
    mails.assert_sent(ADA, "a passkey was rejected")
    finish(holder.api, token, credential=sign_challenge(holder, token, count=99))


def test_adding_a_passkey_requires_recent_mfa(ada: Person, api: Api, clock: SteppingClock) -> None:
    with_app = enrolled(ada, clock)
    answer = Holder(with_app.api).add(status=200).json
    assert answer["recovery_codes"] is None
    clock.step(minutes=16)
    here = with_app.api.as_token(answer["access_token"])
    refused = here.post("/authenticators/passkey/options", 401)
    assert 'acr_values="mfa"' in refused.headers["WWW-Authenticate"]


def test_required_passkey_is_enrolled_at_sign_in(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__MFA="required")
    ada, api = person("ada", into=app), Api(app)
    refused = log_in(api, ADA, ada.password, 403).json
    assert (refused["code"], refused["methods"]) == ("mfa_enrolment_required", ["totp", "passkey"])
    body: dict[str, Any] = {"mfa_token": refused["mfa_token"]}
    holder = Holder(api)
    options = api.post("/authenticators/passkey/options", json=body).json
    credential = holder.authenticator.create(options)
    body = {**body, "name": "Laptop", "credential": credential}
    answer = api.post("/authenticators/passkey", json=body).json
    assert jwt_claims(answer["access_token"])["amr"] == ["pwd", "hwk", "user", "mfa"]
    assert len(answer["recovery_codes"]) == 10
    api.post("/authenticators/passkey", 400, json=body)
    here = api.as_token(answer["access_token"])
    [passkey] = here.get("/authenticators").json
    assert here.delete(f"/authenticators/{passkey['id']}", 409).json["code"] == "last_factor"


def test_passkey_that_is_no_mfa_method_cannot_be_enrolled_at_sign_in(
    make_app: MakeApp, person: MakePerson
) -> None:
    settings = {"AUTH__MFA": "required", "AUTH__MFA_METHODS": '["totp"]', "AUTH__PASSKEYS": "on"}
    app = make_app(**settings)
    ada, api = person("ada", into=app), Api(app)
    token = log_in(api, ADA, ada.password, 403).json["mfa_token"]
    refused = api.post("/authenticators/passkey/options", 404, json={"mfa_token": token})
    assert refused.json["code"] == "feature_off"
    assert stored(app) == []


def test_removed_passkey_is_no_second_factor(
    holder: Holder, ada: Person, mails: MailOutbox
) -> None:
    [passkey] = holder.api.get("/authenticators").json
    holder.api.delete(f"/authenticators/{passkey['id']}")
    mails.assert_sent(ADA, "a passkey was removed", "Laptop")
    holder.sign_in(400)
    log_in(holder.anonymous, ADA, ada.password)
