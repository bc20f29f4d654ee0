"""Devices that are not asked for a second factor for some days."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cases import for_each
from .factors import Enrolled, challenge, enrolled, finish
from .test_email_change import mailed
from .test_login import log_in

NEW_PASSWORD = "another password altogether"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return trusting(make_app)


def trusting(make_app: MakeApp, days: int = 30, **more: str) -> Flask:
    settings = {"AUTH__MFA": "optional", "AUTH__MFA_METHODS": '["totp"]', **more}
    return make_app(AUTH__MFA_TRUST_DAYS=str(days), **settings)


def trust(api: Api, person: Person, has: Enrolled) -> str:
    """Sign in with the factor, and have this device trusted."""
    token = challenge(api, person)
    body = {"mfa_token": token, "otp": has.phone.next_code(), "trust": True}
    answer = api.as_token(None).post("/login/mfa", json=body, headers={"User-Agent": FIREFOX})
    return str(answer.json["trusted_device"])


def come(api: Api, person: Person, secret: str, status: int = 200) -> Any:
    form = {"username": person.email, "password": person.password}
    return api.post("/login", status, data=form, headers={"X-Trusted-Device": secret}).json


def test_one_is_not_asked_again_by_header_or_field(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    mails.assert_sent(ada.email, "a device is trusted now")
    api.as_token(come(api, ada, secret)["access_token"]).get("/account")
    form = {"username": ada.email, "password": ada.password, "trusted_device": secret}
    api.post("/login", data=form)
    challenge(api, ada)
    come(api, ada, "x" * len(secret), 403)


def test_the_password_is_asked_for_all_the_same(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    ada.password = "wrong"
    assert come(api, ada, secret, 400)["code"] == "incorrect_credentials"


def test_it_is_no_factor_for_what_asks_for_one(ada: Person, api: Api, clock: SteppingClock) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    here = api.as_token(come(api, ada, secret)["access_token"])
    refused = here.post("/recovery-codes", 401)
    assert 'acr_values="mfa"' in refused.headers["WWW-Authenticate"]


def test_who_does_not_want_it_is_given_no_secret(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    has = enrolled(ada, clock)
    answer = finish(api, challenge(api, ada), otp=has.phone.next_code()).json
    assert "trusted_device" not in answer


def test_where_none_are_trusted_none_is(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = trusting(make_app)
    ada, api = person("ada", into=app), Api(app)
    has = enrolled(ada, clock)
    secret = trust(api, ada, has)
    strict = Api(trusting(make_app, days=0))
    come(strict, ada, secret, 403)
    answer = finish(strict, challenge(strict, ada), otp=has.phone.next_code(), trust=True).json
    assert "trusted_device" not in answer


def test_its_days_end_and_stricter_settings_hold_for_those_that_are(
    make_app: MakeApp, ada: Person, api: Api, clock: SteppingClock
) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    clock.step(days=8)
    come(api, ada, secret)
    come(Api(trusting(make_app, days=7)), ada, secret, 403)
    clock.step(days=22, minutes=1)
    come(api, ada, secret, 403)
    assert (
        '"second_factors":1' in ada.app.test_cli_runner().invoke(args=["frontdesk", "prune"]).output
    )


def test_its_owner_lists_them_and_takes_one_back(
    ada: Person, api: Api, person: MakePerson, clock: SteppingClock
) -> None:
    has = enrolled(ada, clock)
    first, second = trust(api, ada, has), trust(api, ada, has)
    here = api.as_token(come(api, ada, first)["access_token"])
    newest, oldest = here.get("/trusted-devices").json
    assert (oldest["user_agent"], oldest["ip"]) == (FIREFOX, "127.0.0.0/24")
    assert (oldest["last_used_at"] is None, newest["last_used_at"]) == (False, None)
    assert not {"digest", "secret"} & oldest.keys()
    grace = person("grace").api()
    grace.delete(f"/trusted-devices/{oldest['id']}", 404)
    assert grace.get("/trusted-devices").json == []
    here.delete(f"/trusted-devices/{oldest['id']}")
    here.delete(f"/trusted-devices/{oldest['id']}", 404)
    come(api, ada, first, 403)
    come(api, ada, second)


def test_another_account_is_not_opened_by_it(
    ada: Person, api: Api, person: MakePerson, clock: SteppingClock
) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    grace = person("grace")
    enrolled(grace, clock)
    come(api, grace, secret, 403)


@pytest.mark.parametrize("way", ["owner", "recovery", "operator", "address", "factors"])
def test_it_ends_with_the_password_the_address_and_the_factors(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox, way: str
) -> None:
    has = enrolled(ada, clock)
    secret = trust(api, ada, has)
    here = api.as_token(
        finish(api, challenge(api, ada), otp=has.phone.next_code()).json["access_token"]
    )
    match way:
        case "owner":
            body = {"current_password": ada.password, "new_password": NEW_PASSWORD}
            here.put("/account/password", json=body)
            ada.password = NEW_PASSWORD
        case "recovery":
            api.post("/password-recovery", json={"email": ada.email})
            body = {"token": mailed(mails, ada.email)[0], "new_password": NEW_PASSWORD}
            api.post("/reset-password", json=body)
            ada.password = NEW_PASSWORD
        case "operator":
            ada.change(password=NEW_PASSWORD)
        case "address":
            ada.change(email="countess@example.com")
        case "factors":
            ada.app.test_cli_runner().invoke(args=["accounts", "reset-mfa", ada.email])
            has = enrolled(ada, clock)
    come(api, ada, secret, 403)
    answer = finish(api, challenge(api, ada), otp=has.phone.next_code()).json
    if way != "operator":
        again = api.as_token(answer["access_token"])
        assert again.get("/trusted-devices").json == []


def test_an_account_has_twenty_and_the_oldest_makes_room(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    has = enrolled(ada, clock)
    first, *others = [trust(api, ada, has) for _ in range(21)]
    come(api, ada, first, 403)
    here = api.as_token(come(api, ada, others[0])["access_token"])
    assert len(here.get("/trusted-devices").json) == 20


def test_what_is_stored_opens_nothing(ada: Person, api: Api, clock: SteppingClock) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    with ada.app.app_context():
        [row] = current_frontdesk.session.execute(
            text("SELECT * FROM frontdesk_trusted_devices")
        ).all()
    assert secret not in str(row)
    come(api, ada, row.digest, 403)


@pytest.fixture
def known(ada: Person, clock: SteppingClock) -> Person:
    """With a second factor."""
    enrolled(ada, clock)
    return ada


@for_each("secret", ["", "x", "x" * 5000, "\u00e9", "a b"])
def test_what_is_no_secret_is_no_device(known: Person, api: Api, secret: str) -> None:
    come(api, known, secret, 403)
    log_in(api, known.email, "wrong", 400)
