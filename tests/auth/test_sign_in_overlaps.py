"""Sign-in that overlaps a change to the account: the change also revokes the new session."""

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
from .overlaps import (
    CHANGES,
    ConcurrentChange,
    by_factor,
    by_operator,
    by_suspension,
    change_during,
)
from .sign_in_methods import METHODS
from .sign_in_users import Deployment, User, create_user
from .test_sign_in_table import ALL_FEATURES

# Without the lock, a session survives in at least one of three rounds.
ROUNDS = 3
CLIENTS = 4

MakeUser = Callable[..., User]


@pytest.fixture
def make_user(
    make_idp_app: Callable[..., Flask], mails: MailOutbox, clock: SteppingClock
) -> MakeUser:
    app = make_idp_app(**{**ALL_FEATURES, "CORE__KEYSTORE": "auto"})
    deployment = Deployment(app, app, mails, clock)

    def make(name: str = "ada", method: str = "password") -> User:
        user = create_user(
            deployment, name, {"second step": "enrolled", "device": "device"}.get(method, "none")
        )
        METHODS[PREPARED_BY.get(method, method)].prepare(user)
        return user

    return make


PREPARED_BY = {"device": "password"}


def is_rejected(make_user: User, answer: TestResponse) -> bool:
    """Return whether the new session is rejected, even after a suspension was lifted."""
    if answer.status_code != 200:
        return True
    make_user.person.change(status="active")
    token = answer.get_json().get("access_token")
    if token is not None:
        headers = {"Authorization": f"Bearer {token}"}
        return make_user.send("GET", "/account", headers=headers).status_code == 401
    name, _, rest = answer.headers["Set-Cookie"].partition("=")
    headers = {"Cookie": f"{name}={rest.partition(';')[0]}"}
    return make_user.send("GET", "/account", headers=headers, base_url=HOST).status_code == 401


@pytest.mark.parametrize("change", CHANGES)
def test_password_sign_in_does_not_survive_overlapping_change(
    make_user: MakeUser, change: str
) -> None:
    ada = make_user()
    with ConcurrentChange(ada.deployment.now, CHANGES[change](ada)):
        answer = METHODS["password"].enter(ada)
    assert is_rejected(ada, answer)


@pytest.mark.parametrize(
    "method", ["second step", "device", "mailed code", "passkey", "provider", "cookie"]
)
def test_no_method_survives_overlapping_change(make_user: MakeUser, method: str) -> None:
    ada = make_user(method=method)
    proofs = 2 if method in ("second step", "device") else 1
    with ConcurrentChange(ada.deployment.now, by_operator(ada), proofs):
        answer = METHODS[PREPARED_BY.get(method, method)].enter(ada)
    assert is_rejected(ada, answer)


@pytest.mark.parametrize(
    ("method", "owner", "name", "code"),
    [
        ("password", Passwords, "check", "incorrect_credentials"),
        ("cookie", Passwords, "check", "incorrect_credentials"),
        ("second step", SecondFactors, "check", "invalid_token"),
        ("mailed code", LoginCodes, "use", "invalid_token"),
        ("passkey", PasskeyProofs, "accept", "passkey_refused"),
        ("provider", Identities, "owner", "sign_in_refused"),
    ],
)
def test_sign_in_after_change_of_credentials_is_rejected(
    make_user: MakeUser,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    owner: type[Any],
    name: str,
    code: str,
) -> None:
    ada = make_user(method=method)
    change_during(monkeypatch, owner, name, by_operator(ada))
    answer = METHODS[method].enter(ada)
    assert (answer.status_code, answer.get_json()["code"]) == (400, code)


@pytest.mark.parametrize(
    ("method", "owner", "name"),
    [("password", Passwords, "check"), ("passkey", PasskeyProofs, "accept")],
)
def test_sign_in_after_suspension_is_inactive(
    make_user: MakeUser, monkeypatch: pytest.MonkeyPatch, method: str, owner: type[Any], name: str
) -> None:
    ada = make_user(method=method)
    change_during(monkeypatch, owner, name, by_suspension(ada))
    answer = METHODS[method].enter(ada)
    assert (answer.status_code, answer.get_json()["code"]) == (400, "inactive_account")


def test_sign_in_after_mfa_enrollment_requires_mfa(
    make_user: MakeUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = make_user()
    change_during(monkeypatch, Passwords, "check", by_factor(ada))
    answer = METHODS["password"].enter(ada)
    assert (answer.status_code, answer.get_json()["code"]) == (403, "mfa_required")


@pytest.mark.parametrize("change", ["change", "reset", "second factor", "suspension"])
def test_concurrent_sign_ins_do_not_survive_change(make_user: MakeUser, change: str) -> None:
    survived = [count_survivors(make_user(f"ada{number}"), change) for number in range(ROUNDS)]
    assert sum(survived) == 0, survived


def count_survivors(make_user: User, change: str) -> int:
    """Return how many sign-ins of several clients outlive a change made while they sign in."""
    make_change, signed_in = CHANGES[change](make_user), Event()

    def sign_in_until_refused() -> list[TestResponse]:
        answers = []
        while (answer := make_user.log_in()).status_code == 200:
            answers.append(answer)
            signed_in.set()
        assert answer.status_code in (400, 403), answer.get_json()
        return answers

    with ThreadPoolExecutor(CLIENTS) as clients:
        futures = [clients.submit(sign_in_until_refused) for _ in range(CLIENTS)]
        assert signed_in.wait(10)
        make_change()
        answers = [answer for each in futures for answer in each.result()]
    return sum(not is_rejected(make_user, answer) for answer in answers)
