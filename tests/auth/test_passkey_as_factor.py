"""Passkeys where second factors are switched on: beside a password, or in the place of both."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each
from ..rigs.racing import at_once, request
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
    """With a passkey, signed in by the answer to its making."""
    holder = Holder(ada.api())
    answer = holder.add(status=200).json
    holder.api = holder.api.as_token(answer["access_token"])
    return holder


def answer_to(holder: Holder, mfa_token: str, **lies: Any) -> dict[str, Any]:
    """To the challenge that is given for the token."""
    body = {"mfa_token": mfa_token}
    options = holder.nobody.post("/login/passkey/options", json=body).json
    return holder.authenticator.get(options, **lies)


def test_with_the_first_one_come_recovery_codes_and_a_sign_in_that_has_a_factor(
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


def test_a_password_alone_no_longer_does_and_with_the_passkey_it_does(
    holder: Holder, ada: Person
) -> None:
    token = challenge(holder.api, ada)
    answer = finish(holder.api, token, credential=answer_to(holder, token)).json
    assert jwt_claims(answer["access_token"])["amr"] == ["pwd", "hwk", "user", "mfa"]


def test_the_passkey_alone_does(holder: Holder) -> None:
    assert holder.sign_in().json["account"]["email"] == ADA


def test_the_challenge_names_the_accounts_own(holder: Holder, ada: Person) -> None:
    body = {"mfa_token": challenge(holder.api, ada)}
    options = holder.nobody.post("/login/passkey/options", json=body).json
    assert len(options["allowCredentials"]) == 1
    for nothing in ("x", "WzFd.aaaaaa.bbbbbb"):
        body = {"mfa_token": nothing}
        refused = holder.nobody.post("/login/passkey/options", 400, json=body)
        assert refused.json["code"] == "invalid_token"


def test_what_was_shown_for_something_else_is_no_second_factor(
    holder: Holder, ada: Person, person: MakePerson
) -> None:
    token = challenge(holder.api, ada)
    refused = finish(holder.api, token, 400, credential=holder.show())
    assert refused.json["code"] == "passkey_refused"
    once_more = holder.api.post("/reauthenticate/passkey/options").json
    finish(holder.api, token, 400, credential=holder.authenticator.get(once_more))
    grace = person("grace")
    thief = Holder(grace.api())
    thief.add(status=200)
    graces = challenge(thief.api, grace)
    finish(thief.api, token, 400, credential=answer_to(thief, graces))
    finish(thief.api, graces, 400, credential=answer_to(holder, token))
    finish(holder.api, token, credential=answer_to(holder, token))


def test_for_a_factor_it_is_not_shown_in_the_place_of_a_sign_in(
    holder: Holder, ada: Person
) -> None:
    token = challenge(holder.api, ada)
    holder.send(answer_to(holder, token), 400)


@only_on("sqlite")
@for_each("credential", [{}, [], "x", 7, None, {"id": {}}])
def test_what_is_no_credential_is_invalid(holder: Holder, ada: Person, credential: Any) -> None:
    finish(holder.api, challenge(holder.api, ada), 422, credential=credential)


def test_of_many_at_once_one_is_let_in(holder: Holder, ada: Person) -> None:
    token = challenge(holder.api, ada)
    body = {"mfa_token": token, "credential": answer_to(holder, token)}
    calls = [request(holder.api, "POST", "/login/mfa", json=body)] * 8
    statuses = at_once(*calls)
    assert statuses.count(200) == 1
    assert set(statuses) <= {200, 400, 429}


def test_a_copy_is_no_second_factor_either(ada: Person, mails: MailOutbox) -> None:
    holder = Holder(ada.api())
    holder.authenticator.count = 5
    holder.add(status=200)
    token = challenge(holder.api, ada)
    finish(holder.api, token, 400, credential=answer_to(holder, token, count=2))
    mails.assert_sent(ADA, "a passkey was refused")
    finish(holder.api, token, credential=answer_to(holder, token, count=99))


def test_another_one_is_added_by_who_has_shown_a_factor(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    with_app = enrolled(ada, clock)
    answer = Holder(with_app.api).add(status=200).json
    assert answer["recovery_codes"] is None
    clock.step(minutes=16)
    here = with_app.api.as_token(answer["access_token"])
    refused = here.post("/authenticators/passkey/options", 401)
    assert 'acr_values="mfa"' in refused.headers["WWW-Authenticate"]


def test_where_one_is_required_it_is_set_up_before_anything_else(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(AUTH__MFA="required")
    ada, api = person("ada", into=app), Api(app)
    refused = log_in(api, ADA, ada.password, 403).json
    assert (refused["code"], refused["methods"]) == (
        "mfa_enrolment_required",
        ["totp", "passkey"],
    )
    body: dict[str, Any] = {"mfa_token": refused["mfa_token"]}
    holder = Holder(api)
    options = api.post("/authenticators/passkey/options", json=body).json
    made = holder.authenticator.create(options)
    body = {**body, "name": "Laptop", "credential": made}
    answer = api.post("/authenticators/passkey", json=body).json
    assert jwt_claims(answer["access_token"])["amr"] == ["pwd", "hwk", "user", "mfa"]
    assert len(answer["recovery_codes"]) == 10
    api.post("/authenticators/passkey", 400, json=body)
    here = api.as_token(answer["access_token"])
    [passkey] = here.get("/authenticators").json
    assert here.delete(f"/authenticators/{passkey['id']}", 409).json["code"] == "last_factor"


def test_where_it_is_no_factor_it_signs_in_and_sets_nobody_free(
    make_app: MakeApp, person: MakePerson
) -> None:
    settings = {"AUTH__MFA": "required", "AUTH__MFA_METHODS": '["totp"]', "AUTH__PASSKEYS": "on"}
    app = make_app(**settings)
    ada, api = person("ada", into=app), Api(app)
    token = log_in(api, ADA, ada.password, 403).json["mfa_token"]
    refused = api.post("/authenticators/passkey/options", 403, json={"mfa_token": token})
    assert refused.json["code"] == "mfa_off"
    assert stored(app) == []


def test_one_that_is_removed_is_no_factor_any_more(
    holder: Holder, ada: Person, mails: MailOutbox
) -> None:
    [passkey] = holder.api.get("/authenticators").json
    holder.api.delete(f"/authenticators/{passkey['id']}")
    mails.assert_sent(ADA, "a passkey was removed", "Laptop")
    holder.sign_in(400)
    log_in(holder.nobody, ADA, ada.password)
