"""Trusted devices, which skip MFA for a number of days."""

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
    return make_app_with_trust(make_app)


def make_app_with_trust(make_app: MakeApp, days: int = 30, **more: str) -> Flask:
    settings = {"AUTH__MFA": "optional", "AUTH__MFA_METHODS": '["totp"]', **more}
    return make_app(AUTH__MFA_TRUST_DAYS=str(days), **settings)


def trust(api: Api, person: Person, mfa: Enrolled) -> str:
    """Sign in with MFA, trust the device, and return the device token."""
    token = challenge(api, person)
    body = {"mfa_token": token, "otp": mfa.phone.next_code(), "trust": True}
    answer = api.as_token(None).post("/login/mfa", json=body, headers={"User-Agent": FIREFOX})
    return str(answer.json["trusted_device"])


def sign_in(api: Api, person: Person, secret: str, status: int = 200) -> Any:
    form = {"username": person.email, "password": person.password}
    return api.post("/login", status, data=form, headers={"X-Trusted-Device": secret}).json


def test_trusted_device_skips_mfa_by_header_or_field(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    mails.assert_sent(ada.email, "a device was trusted")
    api.as_token(sign_in(api, ada, secret)["access_token"]).get("/account")
    form = {"username": ada.email, "password": ada.password, "trusted_device": secret}
    api.post("/login", data=form)
    challenge(api, ada)
    sign_in(api, ada, "x" * len(secret), 403)


def test_password_is_still_required(ada: Person, api: Api, clock: SteppingClock) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    ada.password = "wrong"
    assert sign_in(api, ada, secret, 400)["code"] == "incorrect_credentials"


def test_trusted_device_is_no_second_factor_at_step_up(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    here = api.as_token(sign_in(api, ada, secret)["access_token"])
    refused = here.post("/recovery-codes", 401)
    assert 'acr_values="mfa"' in refused.headers["WWW-Authenticate"]


def test_device_token_is_only_returned_on_request(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    mfa = enrolled(ada, clock)
    answer = finish(api, challenge(api, ada), otp=mfa.phone.next_code()).json
    assert "trusted_device" not in answer


def test_disabled_setting_trusts_no_device(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app_with_trust(make_app)
    ada, api = person("ada", into=app), Api(app)
    mfa = enrolled(ada, clock)
    secret = trust(api, ada, mfa)
    strict = Api(make_app_with_trust(make_app, days=0))
    sign_in(strict, ada, secret, 403)
    answer = finish(strict, challenge(strict, ada), otp=mfa.phone.next_code(), trust=True).json
    assert "trusted_device" not in answer


def test_trust_expires_and_lower_limits_apply_to_existing_devices(
    make_app: MakeApp, ada: Person, api: Api, clock: SteppingClock
) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    clock.step(days=8)
    sign_in(api, ada, secret)
    sign_in(Api(make_app_with_trust(make_app, days=7)), ada, secret, 403)
    clock.step(days=22, minutes=1)
    sign_in(api, ada, secret, 403)
    assert (
        '"second_factors":1' in ada.app.test_cli_runner().invoke(args=["frontdesk", "prune"]).output
    )


def test_owner_lists_and_removes_trusted_devices(
    ada: Person, api: Api, person: MakePerson, clock: SteppingClock
) -> None:
    mfa = enrolled(ada, clock)
    first, second = trust(api, ada, mfa), trust(api, ada, mfa)
    here = api.as_token(sign_in(api, ada, first)["access_token"])
    newest, oldest = here.get("/trusted-devices").json
    assert (oldest["user_agent"], oldest["ip"]) == (FIREFOX, "127.0.0.0/24")
    assert (oldest["last_used_at"] is None, newest["last_used_at"]) == (False, None)
    assert not {"digest", "secret"} & oldest.keys()
    grace = person("grace").api()
    grace.delete(f"/trusted-devices/{oldest['id']}", 404)
    assert grace.get("/trusted-devices").json == []
    here.delete(f"/trusted-devices/{oldest['id']}")
    here.delete(f"/trusted-devices/{oldest['id']}", 404)
    sign_in(api, ada, first, 403)
    sign_in(api, ada, second)


def test_trusted_device_is_for_one_account(
    ada: Person, api: Api, person: MakePerson, clock: SteppingClock
) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    grace = person("grace")
    enrolled(grace, clock)
    sign_in(api, grace, secret, 403)


@pytest.mark.parametrize("event", ["owner", "recovery", "operator", "address", "factors"])
def test_trust_ends_with_password_email_or_mfa_changes(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox, event: str
) -> None:
    mfa = enrolled(ada, clock)
    secret = trust(api, ada, mfa)
    here = api.as_token(
        finish(api, challenge(api, ada), otp=mfa.phone.next_code()).json["access_token"]
    )
    match event:
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
            mfa = enrolled(ada, clock)
    sign_in(api, ada, secret, 403)
    answer = finish(api, challenge(api, ada), otp=mfa.phone.next_code()).json
    if event != "operator":
        again = api.as_token(answer["access_token"])
        assert again.get("/trusted-devices").json == []


def test_oldest_of_twenty_devices_is_replaced(ada: Person, api: Api, clock: SteppingClock) -> None:
    mfa = enrolled(ada, clock)
    first, *others = [trust(api, ada, mfa) for _ in range(21)]
    sign_in(api, ada, first, 403)
    here = api.as_token(sign_in(api, ada, others[0])["access_token"])
    assert len(here.get("/trusted-devices").json) == 20


def test_stored_value_is_not_a_valid_device_token(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    secret = trust(api, ada, enrolled(ada, clock))
    with ada.app.app_context():
        [row] = current_frontdesk.session.execute(
            text("SELECT * FROM frontdesk_trusted_devices")
        ).all()
    assert secret not in str(row)
    sign_in(api, ada, row.digest, 403)


@pytest.fixture
def ada_with_mfa(ada: Person, clock: SteppingClock) -> Person:
    """Return Ada's account with MFA enabled."""
    enrolled(ada, clock)
    return ada


@for_each("secret", ["", "x", "x" * 5000, "\u00e9", "a b"])
def test_malformed_device_token_is_ignored(ada_with_mfa: Person, api: Api, secret: str) -> None:
    sign_in(api, ada_with_mfa, secret, 403)
    log_in(api, ada_with_mfa.email, "wrong", 400)
