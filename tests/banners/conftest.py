from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, Person

# Creates a banner and returns it.
MakeBanner = Callable[..., dict[str, Any]]


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    """The service, with access tokens that outlive the banners."""
    return make_app(AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="100000")


@pytest.fixture
def bob(person: MakePerson) -> Person:
    return person("bob")


@pytest.fixture
def admin(person: MakePerson) -> Api:
    return person("root", role="root").api()


@pytest.fixture
def banner(admin: Api) -> MakeBanner:
    def make(text: str = "Maintenance on Friday", **members: Any) -> dict[str, Any]:
        created: dict[str, Any] = admin.post(
            "/admin/banners", 201, json={"text": text, **members}
        ).json
        return created

    return make


@pytest.fixture
def after(clock: SteppingClock) -> Callable[..., str]:
    """Return the time after a duration, as a request has it: `after(hours=1)`."""
    return lambda **duration: (clock.now() + timedelta(**duration)).isoformat()
