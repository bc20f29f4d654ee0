"""The security check-up computes one next step from the state of an account."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.console.owner.security_checkup import Device, SecurityState, next_step
from app.console.resources import ConsoleResources

from ..conftest import MakeApp, only_on
from ..rigs.console.site import FEATURES

pytestmark = only_on("sqlite")
NOW = datetime(2030, 6, 1, tzinfo=UTC)
SECURE = SecurityState(True, True, False, 10, [], [])
RECENT = Device("Laptop", NOW - timedelta(days=300), NOW - timedelta(days=1))
OLD = Device("Old phone", NOW - timedelta(days=300), NOW - timedelta(days=61))
NEVER_USED = Device("Key", NOW - timedelta(days=61), None)


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


def title_of(app: Flask, **state: Any) -> str:
    with app.test_request_context():
        on = app.extensions["frontdesk"].get(ConsoleResources).features
        step = next_step(SECURE._replace(**state), on, NOW)
        return str(step.title) if step else ""


def test_nothing_is_to_do_for_a_secure_account(app: Flask) -> None:
    assert title_of(app) == ""
    assert title_of(app, passkeys=[RECENT], other_sessions=[RECENT]) == ""


def test_steps_are_advised_in_order_of_urgency(app: Flask) -> None:
    state: dict[str, Any] = {
        "is_verified": False,
        "has_factor": False,
        "codes_left": 3,
        "other_sessions": [OLD],
        "passkeys": [NEVER_USED],
    }
    done: Sequence[tuple[str, Any, str]] = (
        ("is_verified", True, "Confirm your email address"),
        ("has_factor", True, "Add a passkey"),
        ("codes_left", 4, "Create new recovery codes"),
        ("other_sessions", [RECENT], "Check your sessions"),
        ("passkeys", [RECENT], "Check your passkeys"),
    )
    for name, value, title in done:
        assert title_of(app, **state) == title
        state[name] = value
    assert title_of(app, **state) == ""


@pytest.mark.parametrize("left", [0, 1, 3])
def test_few_recovery_codes_are_reported(app: Flask, left: int) -> None:
    assert title_of(app, codes_left=left) == "Create new recovery codes"


def test_required_factor_leads_to_two_factor_authentication(app: Flask) -> None:
    title = title_of(app, has_factor=False, needs_factor=True)
    assert title == "Set up two-factor authentication"
