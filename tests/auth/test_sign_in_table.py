"""Every sign-in method, for every account state and MFA policy: tests each cell of the matrix."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import only_on
from .sign_in_methods import METHODS
from .sign_in_table import OUTCOMES, TABLE
from .sign_in_users import STATES, Deployment, User, create_user

ALL_FEATURES = {
    "CORE__KEYSTORE": "database",
    "AUTH__ACCESS_TOKEN_EXPIRE_MINUTES": "1440",
    "AUTH__FRESH_MINUTES": "1440",
    "AUTH__RATE_LIMITS_ENABLED": "false",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__REGISTRATION": "open",
    "AUTH__ACCOUNT_DELETION": "on",
    "AUTH__PASSKEYS": "on",
    "AUTH__MFA": "optional",
    # Passkeys are not accepted as a second factor, so that adding one enables no MFA.
    "AUTH__MFA_METHODS": '["totp"]',
    "AUTH__MFA_TRUST_DAYS": "30",
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__REFRESH_TOKEN_DAYS": "30",
}


def parse_table(table: str) -> dict[str, dict[str, list[str]]]:
    """Return the expected outcomes by MFA block and sign-in method."""
    blocks: dict[str, dict[str, list[str]]] = {}
    for block in table.strip().split("\n\n"):
        (factors, states), *rows = (
            (name.strip(), cells.split())
            for name, _, cells in (line.partition("|") for line in block.splitlines())
        )
        assert states == list(STATES)
        blocks[factors] = dict(rows)
    return blocks


EXPECTED = parse_table(TABLE)


def test_table_covers_every_method_and_state() -> None:
    for rows in EXPECTED.values():
        assert list(rows) == list(METHODS)
        assert {len(cells) for cells in rows.values()} == {len(STATES)}
        assert {cell for cells in rows.values() for cell in cells} <= set(OUTCOMES)
    assert sum(len(cells) for rows in EXPECTED.values() for cells in rows.values()) > 500


@pytest.fixture
def make_deployment(
    make_idp_app: Callable[..., Flask], mails: MailOutbox, clock: SteppingClock
) -> Callable[[str], Deployment]:
    def make(mfa: str) -> Deployment:
        before = make_idp_app(**ALL_FEATURES)
        return Deployment(before, make_idp_app(**{**ALL_FEATURES, "AUTH__MFA": mfa}), mails, clock)

    return make


MakeDeployment = Callable[[str], Deployment]


@only_on("sqlite")
@pytest.mark.parametrize("factors", EXPECTED)
def test_sign_in_outcome_by_method_and_state(make_deployment: MakeDeployment, factors: str) -> None:
    check_outcomes(make_deployment, factors, list(METHODS))


@only_on("postgresql")
def test_postgresql_has_the_same_outcomes(make_deployment: MakeDeployment) -> None:
    methods = [
        "password",
        "second step",
        "mailed code",
        "provider, new",
        "invitation",
        "refresh",
        "cookie",
    ]
    check_outcomes(make_deployment, "optional, enrolled", methods)


def check_outcomes(make_deployment: MakeDeployment, factors: str, methods: list[str]) -> None:
    mfa, _, factor = factors.partition(", ")
    deployment = make_deployment(mfa)
    outcomes = {}
    for number, method in enumerate(methods):
        users = [
            create_user(deployment, f"user{number}of{column}", factor)
            for column, _ in enumerate(STATES)
        ]
        outcomes[method] = [
            sign_in_outcome(user, method, state) for user, state in zip(users, STATES, strict=True)
        ]
    assert outcomes == {method: EXPECTED[factors][method] for method in methods}


def sign_in_outcome(user: User, method: str, state: str) -> str:
    METHODS[method].prepare(user)
    STATES[state](user)
    return name_outcome(METHODS[method].enter(user))


def name_outcome(response: TestResponse) -> str:
    code = response.get_json()["code"] if response.status_code >= 400 else None
    outcomes = response.status_code, code
    return next(
        (name for name, expected in OUTCOMES.items() if expected == outcomes), str(outcomes)
    )
