"""The challenges that passkeys answer: each for one purpose, for a while, and once."""

from __future__ import annotations

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import PASSWORD, SECRET, MakeApp, MakePerson, Person, only_on
from ..core.test_security_log import Told
from ..core.test_security_log import told as told
from .passkey_holder import Holder
from .test_login import log_in


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__PASSKEYS="on")


@pytest.fixture
def holder(ada: Person) -> Holder:
    return Holder(ada.api())


def test_a_challenge_is_good_for_five_minutes(
    holder: Holder, clock: SteppingClock, told: Told
) -> None:
    holder.add()
    slow, late = holder.show(), holder.show()
    clock.step(minutes=4, seconds=58)
    holder.send(slow)
    clock.step(seconds=3)
    holder.send(late, 400)
    assert told("sign_in")[-1]["why"] == "challenge_expired"


def test_a_challenge_is_good_once(holder: Holder, told: Told) -> None:
    holder.add()
    shown = holder.show()
    holder.send(shown)
    holder.send(shown, 400)
    assert told("sign_in")[-1]["why"] == "challenge_used"
    made = Holder(holder.api).make()
    body = {"name": "Second", "credential": made}
    holder.api.post("/authenticators/passkey", 201, json=body)
    holder.api.post("/authenticators/passkey", 400, json=body)


@only_on("sqlite")
def test_a_challenge_of_one_purpose_serves_no_other(holder: Holder, person: MakePerson) -> None:
    holder.add()
    once_more = holder.api.post("/reauthenticate/passkey/options").json
    holder.send(holder.authenticator.get(once_more), 400)
    new = Holder(holder.api)
    other = Holder(person("grace").api())
    for options in (other.api.post("/authenticators/passkey/options").json, None):
        challenge = (options or holder.nobody.post("/login/passkey/options").json)["challenge"]
        new.add(status=400, challenge=challenge)


@only_on("sqlite")
def test_a_challenge_made_with_the_former_secret_key_is_still_known(
    make_app: MakeApp, person: MakePerson
) -> None:
    before = make_app(AUTH__PASSKEYS="on")
    holder = Holder(Api(before, token=person("ada", into=before).token()))
    made = holder.make()
    after = make_app(
        AUTH__PASSKEYS="on",
        SECRET_KEY="another secret key, just as long as the one that came before it",
        CORE__SECRET_KEY_FALLBACKS=f'["{SECRET}"]',
    )
    api = Api(after)
    token = log_in(api, "ada@example.com", PASSWORD).json["access_token"]
    body = {"name": "Laptop", "credential": made}
    api.as_token(token).post("/authenticators/passkey", 201, json=body)
    Holder(api, holder.authenticator).sign_in()
