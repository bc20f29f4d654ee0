"""Passkey challenges: each is for one purpose, expires, and is single-use."""

from __future__ import annotations

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import PASSWORD, SECRET, MakeApp, MakePerson, Person, only_on
from ..core.test_security_log import FindEntries
from ..core.test_security_log import find_entries as find_entries
from .passkey_holder import Holder
from .test_login import log_in


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__PASSKEYS="on")


@pytest.fixture
def holder(ada: Person) -> Holder:
    return Holder(ada.api())


def test_challenge_expires_after_five_minutes(
    holder: Holder, clock: SteppingClock, find_entries: FindEntries
) -> None:
    holder.add()
    in_time, late = holder.show(), holder.show()
    clock.step(minutes=4, seconds=58)
    holder.send(in_time)
    clock.step(seconds=3)
    holder.send(late, 400)
    assert find_entries("sign_in")[-1]["why"] == "challenge_expired"


def test_challenge_is_single_use(holder: Holder, find_entries: FindEntries) -> None:
    holder.add()
    assertion = holder.show()
    holder.send(assertion)
    holder.send(assertion, 400)
    assert find_entries("sign_in")[-1]["why"] == "challenge_used"
    credential = Holder(holder.api).make()
    body = {"name": "Second", "credential": credential}
    holder.api.post("/authenticators/passkey", 201, json=body)
    holder.api.post("/authenticators/passkey", 400, json=body)


@only_on("sqlite")
def test_challenge_is_valid_for_one_purpose(holder: Holder, person: MakePerson) -> None:
    holder.add()
    reauthentication = holder.api.post("/reauthenticate/passkey/options").json
    holder.send(holder.authenticator.get(reauthentication), 400)
    new = Holder(holder.api)
    other = Holder(person("grace").api())
    for options in (other.api.post("/authenticators/passkey/options").json, None):
        challenge = (options or holder.anonymous.post("/login/passkey/options").json)["challenge"]
        new.add(status=400, challenge=challenge)


@only_on("sqlite")
def test_challenge_survives_a_secret_key_rotation(make_app: MakeApp, person: MakePerson) -> None:
    before = make_app(AUTH__PASSKEYS="on")
    holder = Holder(Api(before, token=person("ada", into=before).token()))
    credential = holder.make()
    after = make_app(
        AUTH__PASSKEYS="on",
        SECRET_KEY="another secret key, just as long as the one that came before it",
        CORE__SECRET_KEY_FALLBACKS=f'["{SECRET}"]',
    )
    api = Api(after)
    token = log_in(api, "ada@example.com", PASSWORD).json["access_token"]
    body = {"name": "Laptop", "credential": credential}
    api.as_token(token).post("/authenticators/passkey", 201, json=body)
    Holder(api, holder.authenticator).sign_in()
