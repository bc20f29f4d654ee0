"""A passkey that is shown once more, by who is in already."""

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
        AUTH__MFA="optional",
        AUTH__SESSIONS=request.param,
        AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60",
    )


@pytest.fixture
def holder(ada: Person) -> Holder:
    holder = Holder(ada.api())
    token = holder.add(status=200).json["access_token"]
    holder.api = holder.api.as_token(token)
    return holder


def shown(holder: Holder, **lies: Any) -> dict[str, Any]:
    options = holder.api.post("/reauthenticate/passkey/options").json
    return holder.authenticator.get(options, **lies)


def show(api: Api, credential: Any, status: int = 200) -> Answer:
    return api.post("/reauthenticate", status, json={"credential": credential})


def test_it_is_fresh_again_with_a_factor(holder: Holder, clock: SteppingClock) -> None:
    clock.step(minutes=20)
    refused = holder.api.post("/authenticators/passkey/options", 401).json
    assert (refused["code"], refused["acr_values"]) == ("reauthentication_required", "mfa")
    here = holder.api.as_token(show(holder.api, shown(holder)).json["access_token"])
    here.post("/authenticators/passkey/options")


def test_it_is_asked_for_as_one_of_the_callers(holder: Holder) -> None:
    options = holder.api.post("/reauthenticate/passkey/options").json
    assert len(options["allowCredentials"]) == 1


def test_what_was_shown_to_sign_in_or_by_another_makes_nobody_fresh(
    holder: Holder, person: MakePerson
) -> None:
    assert show(holder.api, holder.show(), 400).json["code"] == "passkey_refused"
    thief = Holder(person("grace").api())
    token = thief.add(status=200).json["access_token"]
    thief.api = thief.api.as_token(token)
    graces = shown(thief)
    show(holder.api, graces, 400)
    show(thief.api, shown(holder), 400)
    show(thief.api, graces)
    show(thief.api, graces, 400)


@only_on("sqlite")
@for_each("credential", [{}, {"id": 7}, {"id": "AAAA", "type": "public-key"}])
def test_what_is_no_credential_is_invalid(holder: Holder, credential: Any) -> None:
    assert show(holder.api, credential, 422).faults == ["json:credential"]
