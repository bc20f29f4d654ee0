"""A sign-in that overlaps a change of what it relies on does not survive the change."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.accounts.passwords import Passwords
from app.auth.idp.identities import Identities
from app.auth.login_codes.codes import LoginCodes
from app.auth.mfa.factors import SecondFactors
from app.auth.passkeys.sign_in import PasskeyProofs
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..rigs.cookie_browsers import HOST
from .door_guests import Guest, House, arrive
from .doors import WAYS
from .overlaps import CHANGES, InTheMiddle, by_factor, by_operator, by_suspension, overtake
from .test_doors import EVERYTHING

# Without the lock some of three rounds already leave a sign-in that survives.
ROUNDS = 3
CLIENTS = 4

MakeGuest = Callable[..., Guest]


@pytest.fixture
def guest(make_idp_app: Callable[..., Flask], mails: MailOutbox, clock: SteppingClock) -> MakeGuest:
    app = make_idp_app(**{**EVERYTHING, "CORE__KEYSTORE": "auto"})
    house = House(app, app, mails, clock)

    def make(name: str = "ada", way: str = "password") -> Guest:
        made = arrive(house, name, {"second step": "enrolled", "device": "device"}.get(way, "none"))
        WAYS[WAY.get(way, way)].prepare(made)
        return made

    return make


WAY = {"device": "password"}


def opens_nothing(guest: Guest, answer: TestResponse) -> bool:
    """Whether what the sign-in was answered with is refused, also once a suspension is over."""
    if answer.status_code != 200:
        return True
    guest.person.change(status="active")
    token = answer.get_json().get("access_token")
    if token is not None:
        headers = {"Authorization": f"Bearer {token}"}
        return guest.send("GET", "/account", headers=headers).status_code == 401
    name, _, rest = answer.headers["Set-Cookie"].partition("=")
    headers = {"Cookie": f"{name}={rest.partition(';')[0]}"}
    return guest.send("GET", "/account", headers=headers, base_url=HOST).status_code == 401


@pytest.mark.parametrize("change", CHANGES)
def test_password_sign_in_does_not_survive_a_change_that_overlaps(
    guest: MakeGuest, change: str
) -> None:
    ada = guest()
    with InTheMiddle(ada.house.now, CHANGES[change](ada)):
        answer = WAYS["password"].enter(ada)
    assert opens_nothing(ada, answer)


@pytest.mark.parametrize(
    "way", ["second step", "device", "mailed code", "passkey", "provider", "cookie"]
)
def test_no_sign_in_method_survives_a_change_that_overlaps(guest: MakeGuest, way: str) -> None:
    ada = guest(way=way)
    proofs = 2 if way in ("second step", "device") else 1
    with InTheMiddle(ada.house.now, by_operator(ada), proofs):
        answer = WAYS[WAY.get(way, way)].enter(ada)
    assert opens_nothing(ada, answer)


@pytest.mark.parametrize(
    ("way", "owner", "name", "code"),
    [
        ("password", Passwords, "check", "incorrect_credentials"),
        ("cookie", Passwords, "check", "incorrect_credentials"),
        ("second step", SecondFactors, "check", "invalid_token"),
        ("mailed code", LoginCodes, "use", "invalid_token"),
        ("passkey", PasskeyProofs, "accept", "passkey_refused"),
        ("provider", Identities, "owner", "sign_in_refused"),
    ],
)
def test_a_sign_in_whose_account_changed_after_the_proof_is_refused(
    guest: MakeGuest,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    owner: type[Any],
    name: str,
    code: str,
) -> None:
    ada = guest(way=way)
    overtake(monkeypatch, owner, name, by_operator(ada))
    answer = WAYS[way].enter(ada)
    assert (answer.status_code, answer.get_json()["code"]) == (400, code)


@pytest.mark.parametrize(
    ("way", "owner", "name"),
    [("password", Passwords, "check"), ("passkey", PasskeyProofs, "accept")],
)
def test_a_sign_in_whose_account_was_suspended_after_the_proof_is_inactive(
    guest: MakeGuest, monkeypatch: pytest.MonkeyPatch, way: str, owner: type[Any], name: str
) -> None:
    ada = guest(way=way)
    overtake(monkeypatch, owner, name, by_suspension(ada))
    answer = WAYS[way].enter(ada)
    assert (answer.status_code, answer.get_json()["code"]) == (400, "inactive_account")


def test_a_sign_in_whose_owner_set_a_second_factor_up_after_the_proof_is_asked_for_it(
    guest: MakeGuest, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = guest()
    overtake(monkeypatch, Passwords, "check", by_factor(ada))
    answer = WAYS["password"].enter(ada)
    assert (answer.status_code, answer.get_json()["code"]) == (403, "mfa_required")


@pytest.mark.parametrize("change", ["change", "reset", "second factor", "suspension"])
def test_of_clients_that_sign_in_without_pause_none_survives(guest: MakeGuest, change: str) -> None:
    survived = [hammer(guest(f"ada{number}"), change) for number in range(ROUNDS)]
    assert sum(survived) == 0, survived


def hammer(guest: Guest, change: str) -> int:
    """How many sign-ins of several clients outlive a change in the midst of them."""
    begin, signed_in = CHANGES[change](guest), Event()

    def sign_in_until_refused() -> list[TestResponse]:
        answers = []
        while (answer := guest.log_in()).status_code == 200:
            answers.append(answer)
            signed_in.set()
        assert answer.status_code in (400, 403), answer.get_json()
        return answers

    with ThreadPoolExecutor(CLIENTS) as clients:
        hammering = [clients.submit(sign_in_until_refused) for _ in range(CLIENTS)]
        assert signed_in.wait(10)
        begin()
        answers = [answer for each in hammering for answer in each.result()]
    return sum(not opens_nothing(guest, answer) for answer in answers)
