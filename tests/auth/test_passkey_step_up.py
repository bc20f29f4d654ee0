"""Step-up with a passkey."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each
from .passkey_holder import Holder


@pytest.fixture(params=["off", "on"], ids=["tokens", "sessions"])
def app(make_app: MakeApp, request: pytest.FixtureRequest) -> Flask:
    return make_app(
        AUTH__MFA="optional", AUTH__SESSIONS=request.param, AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60"
    )


@pytest.fixture
def holder(ada: Person) -> Holder:
    holder = Holder(ada.api())
    token = holder.add(status=200).json["access_token"]
    holder.api = holder.api.as_token(token)
    return holder


def sign_challenge(holder: Holder, **forged: Any) -> dict[str, Any]:
    options = holder.api.post("/reauthenticate/passkey/options").json
    return holder.authenticator.get(options, **forged)


def reauthenticate(api: Api, credential: Any, status: int = 200) -> Answer:
    return api.post("/reauthenticate", status, json={"credential": credential})


def test_step_up_renews_mfa(holder: Holder, clock: SteppingClock) -> None:
    clock.step(minutes=20)
    refused = holder.api.post("/authenticators/passkey/options", 401).json
    assert (refused["code"], refused["acr_values"]) == ("reauthentication_required", "mfa")
    here = holder.api.as_token(
        reauthenticate(holder.api, sign_challenge(holder)).json["access_token"]
    )
    here.post("/authenticators/passkey/options")


def test_challenge_lists_the_callers_passkeys(holder: Holder) -> None:
    options = holder.api.post("/reauthenticate/passkey/options").json
    assert len(options["allowCredentials"]) == 1


def test_assertion_for_sign_in_or_of_another_user_is_rejected(
    holder: Holder, person: MakePerson
) -> None:
    assert reauthenticate(holder.api, holder.show(), 400).json["code"] == "passkey_refused"
    attacker = Holder(person("grace").api())
    token = attacker.add(status=200).json["access_token"]
    attacker.api = attacker.api.as_token(token)
    grace_assertion = sign_challenge(attacker)
    reauthenticate(holder.api, grace_assertion, 400)
    reauthenticate(attacker.api, sign_challenge(holder), 400)
    reauthenticate(attacker.api, grace_assertion)
    reauthenticate(attacker.api, grace_assertion, 400)


@only_on("sqlite")
@for_each("credential", [{}, {"id": 7}, {"id": "AAAA", "type": "public-key"}])
def test_malformed_credential_is_invalid(holder: Holder, credential: Any) -> None:
    assert reauthenticate(holder.api, credential, 422).faults == ["json:credential"]
