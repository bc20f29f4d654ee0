"""Every way in, for every account: one table, and each of its cells is walked through."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import only_on
from .door_guests import STATES, Guest, House, arrive
from .doors import WAYS
from .doors_table import TABLE, WORDS

EVERYTHING = {
    "CORE__KEYSTORE": "database",
    "AUTH__ACCESS_TOKEN_EXPIRE_MINUTES": "1440",
    "AUTH__FRESH_MINUTES": "1440",
    "AUTH__RATE_LIMITS_ENABLED": "false",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__REGISTRATION": "open",
    "AUTH__ACCOUNT_DELETION": "on",
    "AUTH__PASSKEYS": "on",
    "AUTH__MFA": "optional",
    # So that who has a passkey has no second factor by that.
    "AUTH__MFA_METHODS": '["totp"]',
    "AUTH__MFA_TRUST_DAYS": "30",
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__REFRESH_TOKEN_DAYS": "30",
}


def read(table: str) -> dict[str, dict[str, list[str]]]:
    """By the factors and the way, what the columns say."""
    blocks: dict[str, dict[str, list[str]]] = {}
    for block in table.strip().split("\n\n"):
        (factors, states), *rows = (
            (name.strip(), cells.split())
            for name, _, cells in (line.partition("|") for line in block.splitlines())
        )
        assert states == list(STATES)
        blocks[factors] = dict(rows)
    return blocks


EXPECTED = read(TABLE)


def test_the_table_has_a_cell_for_everybody() -> None:
    for rows in EXPECTED.values():
        assert list(rows) == list(WAYS)
        assert {len(cells) for cells in rows.values()} == {len(STATES)}
        assert {cell for cells in rows.values() for cell in cells} <= set(WORDS)
    assert sum(len(cells) for rows in EXPECTED.values() for cells in rows.values()) > 500


@pytest.fixture
def make_house(
    make_idp_app: Callable[..., Flask], mails: MailOutbox, clock: SteppingClock
) -> Callable[[str], House]:
    def make(mfa: str) -> House:
        before = make_idp_app(**EVERYTHING)
        return House(before, make_idp_app(**{**EVERYTHING, "AUTH__MFA": mfa}), mails, clock)

    return make


MakeHouse = Callable[[str], House]


@only_on("sqlite")
@pytest.mark.parametrize("factors", EXPECTED)
def test_who_comes_in_and_who_is_told_what(make_house: MakeHouse, factors: str) -> None:
    walk_through(make_house, factors, list(WAYS))


@only_on("postgresql")
def test_the_other_database_has_the_same_doors(make_house: MakeHouse) -> None:
    ways = [
        "password",
        "second step",
        "mailed code",
        "provider, new",
        "invitation",
        "refresh",
        "cookie",
    ]
    walk_through(make_house, "optional, enrolled", ways)


def walk_through(make_house: MakeHouse, factors: str, ways: list[str]) -> None:
    mfa, _, has = factors.partition(", ")
    house = make_house(mfa)
    found = {}
    for number, way in enumerate(ways):
        guests = [arrive(house, f"guest{number}of{place}", has) for place, _ in enumerate(STATES)]
        found[way] = [
            comes_in(guest, way, state) for guest, state in zip(guests, STATES, strict=True)
        ]
    assert found == {way: EXPECTED[factors][way] for way in ways}


def comes_in(guest: Guest, way: str, state: str) -> str:
    WAYS[way].prepare(guest)
    STATES[state](guest)
    return word(WAYS[way].enter(guest))


def word(answer: TestResponse) -> str:
    code = answer.get_json()["code"] if answer.status_code >= 400 else None
    found = answer.status_code, code
    return next((each for each, meant in WORDS.items() if meant == found), str(found))
