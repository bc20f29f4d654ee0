"""MFA lockout: wrong codes lock attackers out, but no owner in a known network."""

from __future__ import annotations

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from .factors import Enrolled, challenge, enrolled
from .test_limits import from_address
from .test_recovery import NEW, ask, reset

ATTACKER, OWNER = "198.51.100.66", "203.0.113.9"
# Tests send hundreds of guesses, and password rate limits are tested elsewhere.
SETTINGS = {
    "AUTH__MFA": "optional",
    "AUTH__MFA_METHODS": '["totp"]',
    "AUTH__MFA_TRUST_DAYS": "30",
    "AUTH__LOGIN_LIMIT": "1000 per minute",
    "AUTH__LOGIN_ADDRESS_LIMIT": "1000 per minute",
    "AUTH__LOGIN_ACCOUNT_LIMIT": "1000 per minute",
    "AUTH__RECOVERY_LIMIT": "100 per minute",
}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**SETTINGS)


@pytest.fixture
def attacker(app: Flask) -> Api:
    """Return a client of an attacker who knows the password."""
    return from_address(app, ATTACKER)


@pytest.fixture
def owner(app: Flask) -> Api:
    return from_address(app, OWNER)


@pytest.fixture
def mfa(ada: Person, clock: SteppingClock) -> Enrolled:
    return enrolled(ada, clock)


def guess(attacker: Api, ada: Person, mfa: Enrolled, times: int = 10) -> None:
    for _ in range(times):
        send(attacker, ada, 400, otp=mfa.phone.wrong_code())


def guess_all_day(attacker: Api, ada: Person, mfa: Enrolled, clock: SteppingClock) -> None:
    for _ in range(5):
        guess(attacker, ada, mfa)
        clock.step(minutes=11)


def send(api: Api, ada: Person, status: int = 200, **factor: str) -> str:
    """Sign in: the password, then the factor. Returns the code of a refusal."""
    form = {"username": ada.email, "password": ada.password}
    first = api.client.post("/api/v1/login", data=form).get_json()
    body = {"mfa_token": first["mfa_token"], **factor}
    answer = api.client.post("/api/v1/login/mfa", json=body)
    assert answer.status_code == status, answer.get_data(as_text=True)
    return str(answer.get_json().get("code", ""))


def test_guessing_locks_strangers_and_no_known_network(
    app: Flask, ada: Person, mfa: Enrolled, attacker: Api, owner: Api, mails: MailOutbox
) -> None:
    second = from_address(app, "192.0.2.20")
    for api in (owner, second):
        send(api, ada, otp=mfa.phone.next_code())
    guess(attacker, ada, mfa)
    elsewhere = from_address(app, "192.0.2.130")
    assert send(elsewhere, ada, 429, otp=mfa.phone.next_code()) == "too_many_attempts"
    # Each known network has ten attempts of its own.
    mails.clear()
    for api in (owner, second):
        send(api, ada, otp=mfa.phone.next_code())
        guess(api, ada, mfa)
        send(api, ada, 429, otp=mfa.phone.next_code())
    assert len(mails.to(ada.email)) == 1, "known networks share the notices"


def test_admin_unlock_resets_the_factor_counters(
    ada: Person, mfa: Enrolled, attacker: Api, owner: Api, person: MakePerson
) -> None:
    guess(attacker, ada, mfa)
    send(owner, ada, 429, otp=mfa.phone.next_code())
    person("root", role="root").api().post(f"/admin/accounts/{ada.id}/unlock")
    send(owner, ada, otp=mfa.phone.next_code())
    guess(attacker, ada, mfa)
    send(attacker, ada, 429, otp=mfa.phone.wrong_code())


@only_on("postgresql")
def test_unlock_command_resets_the_factor_counters(
    app: Flask, ada: Person, mfa: Enrolled, attacker: Api, owner: Api
) -> None:
    guess(attacker, ada, mfa)
    result = app.test_cli_runner().invoke(args=["accounts", "unlock", ada.email])
    assert result.exit_code == 0, result.output
    send(owner, ada, otp=mfa.phone.next_code())


@only_on("postgresql")
def test_password_set_by_command_resets_the_factor_counters(
    app: Flask, ada: Person, mfa: Enrolled, attacker: Api, owner: Api
) -> None:
    guess(attacker, ada, mfa)
    options = ["accounts", "set", ada.email, f"--password={NEW}"]
    result = app.test_cli_runner().invoke(args=options)
    assert result.exit_code == 0, result.output
    ada.password = NEW
    send(owner, ada, otp=mfa.phone.next_code())


def test_password_reset_resets_the_factor_counters(
    ada: Person, mfa: Enrolled, attacker: Api, owner: Api, mails: MailOutbox
) -> None:
    guess(attacker, ada, mfa)
    mails.clear()
    token, _ = ask(owner, mails)
    reset(owner, token)
    ada.password = NEW
    send(owner, ada, otp=mfa.phone.next_code())


@only_on("sqlite")
def test_only_three_resets_a_day_reset_the_factor_counters(
    app: Flask, ada: Person, mfa: Enrolled, attacker: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    # An attacker who reads the owner's email must not guess without end.
    for number in range(4):
        guess(attacker, ada, mfa)
        mails.clear()
        token, _ = ask(attacker, mails)
        ada.password = f"another horse battery {number}"
        reset(attacker, token, new_password=ada.password)
    send(attacker, ada, 429, otp=mfa.phone.wrong_code())
    # A reset from another network gives no attempts to it.
    mails.clear()
    elsewhere = from_address(app, "192.0.2.77")
    token, _ = ask(elsewhere, mails)
    ada.password = "another horse battery 5"
    reset(elsewhere, token, new_password=ada.password)
    send(elsewhere, ada, 429, otp=mfa.phone.wrong_code())
    clock.step(hours=24)
    guess(attacker, ada, mfa, times=1)


def test_password_change_resets_the_factor_counters(
    ada: Person, mfa: Enrolled, attacker: Api, owner: Api
) -> None:
    guess(attacker, ada, mfa)
    body = {"current_password": PASSWORD, "new_password": NEW}
    mfa.api.put("/account/password", json=body)
    ada.password = NEW
    send(owner, ada, otp=mfa.phone.next_code())


def test_recovery_codes_are_counted_separately(
    ada: Person, mfa: Enrolled, attacker: Api, owner: Api
) -> None:
    guess(attacker, ada, mfa)
    send(owner, ada, recovery_code=mfa.recovery_codes[0])
    for _ in range(10):
        send(attacker, ada, 400, recovery_code="aaaa-aaaa")
    send(attacker, ada, 429, recovery_code=mfa.recovery_codes[1])
    send(owner, ada, recovery_code=mfa.recovery_codes[1])
    for _ in range(10):
        send(owner, ada, 400, recovery_code="aaaa-aaaa")
    send(owner, ada, 429, recovery_code=mfa.recovery_codes[2])


@only_on("sqlite")
def test_daily_limit_stops_guessers(
    ada: Person, mfa: Enrolled, attacker: Api, owner: Api, clock: SteppingClock
) -> None:
    guess_all_day(attacker, ada, mfa, clock)
    send(attacker, ada, 429, otp=mfa.phone.wrong_code())
    # The owner never signed in from this IP address or browser.
    send(owner, ada, 429, otp=mfa.phone.next_code())
    clock.step(hours=23, minutes=30)
    send(owner, ada, otp=mfa.phone.next_code())


@only_on("sqlite")
def test_known_network_has_its_own_daily_limit(
    ada: Person, mfa: Enrolled, attacker: Api, owner: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    send(owner, ada, otp=mfa.phone.next_code())
    guess_all_day(attacker, ada, mfa, clock)
    mails.clear()
    send(owner, ada, otp=mfa.phone.next_code())
    send(owner, ada, otp=mfa.phone.next_code())
    assert mails.to(ada.email) == []
    send(attacker, ada, 429, otp=mfa.phone.wrong_code())
    guess_all_day(owner, ada, mfa, clock)
    send(owner, ada, 429, otp=mfa.phone.next_code())


@only_on("sqlite")
def test_password_alone_does_not_make_an_ip_address_known(
    ada: Person, mfa: Enrolled, attacker: Api, clock: SteppingClock
) -> None:
    challenge(attacker, ada)
    guess_all_day(attacker, ada, mfa, clock)
    send(attacker, ada, 429, otp=mfa.phone.code())


@only_on("sqlite")
def test_known_ip_address_does_not_pass_the_ten_minute_limit(
    ada: Person, mfa: Enrolled, attacker: Api, owner: Api, clock: SteppingClock
) -> None:
    send(owner, ada, otp=mfa.phone.next_code())
    guess_all_day(attacker, ada, mfa, clock)
    guess(owner, ada, mfa)
    assert send(owner, ada, 429, otp=mfa.phone.code()) == "too_many_attempts"
    clock.step(minutes=11)
    send(owner, ada, otp=mfa.phone.code())


@only_on("sqlite")
def test_trusted_device_passes_the_daily_limit_at_step_up(
    app: Flask, ada: Person, mfa: Enrolled, attacker: Api, owner: Api, clock: SteppingClock
) -> None:
    form = {"username": ada.email, "password": ada.password}
    body = {"mfa_token": challenge(owner, ada), "otp": mfa.phone.next_code(), "trust": True}
    device = owner.post("/login/mfa", json=body).json["trusted_device"]
    guess_all_day(attacker, ada, mfa, clock)
    elsewhere = from_address(app, "192.0.2.20")
    trusted = {"X-Trusted-Device": device}
    token = elsewhere.post("/login", data=form, headers=trusted).json["access_token"]
    elsewhere.token = token
    proof = {"otp": mfa.phone.next_code()}
    another = from_address(app, "198.51.200.20")
    another.token = token
    another.post("/reauthenticate", 429, json=proof)
    another.post("/reauthenticate", json=proof, headers=trusted)
