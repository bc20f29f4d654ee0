"""Every session ends by AUTH.SESSION_DAYS and by AUTH.SESSION_IDLE_DAYS, whichever comes first."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cookie_browsers import HOST, NAME, CookieBrowser
from .test_sessions import is_in, listed

EVERYTHING = {
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__REFRESH_TOKEN_DAYS": "300",
    "AUTH__ACCESS_TOKEN_EXPIRE_MINUTES": str(200 * 24 * 60),
}
KINDS = ("token", "refresh token", "cookie")


class SignedIn:
    """By one kind of credential, at any application that has the same database."""

    def __init__(self, kind: str, app: Flask, person: Person) -> None:
        self.kind = kind
        if kind == "cookie":
            browser = CookieBrowser(app)
            browser.sign_in(person)
            self.cookie = browser.cookie
            return
        form = {"username": person.email, "password": person.password}
        headers = {"Prefer": "refresh"} if kind == "refresh token" else {}
        self.answer = Api(app).post("/login", data=form, headers=headers).json

    def use(self, app: Flask) -> bool:
        """Whether it still opens the account."""
        if self.kind == "cookie":
            headers = {"Cookie": f"{NAME}={self.cookie}"}
            asked = app.test_client(use_cookies=False)
            answer = asked.get("/api/v1/account", headers=headers, base_url=HOST)
            return bool(answer.status_code == 200)
        if self.kind == "token":
            return is_in(Api(app, token=self.answer["access_token"]))
        form = {"grant_type": "refresh_token", "refresh_token": self.answer["refresh_token"]}
        response = Api(app).client.post("/api/v1/token", data=form)
        if response.status_code == 200:
            self.answer = response.get_json()
        return bool(response.status_code == 200)


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_ends_after_its_days_however_much_it_is_used(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, kind: str
) -> None:
    app = make_app(**EVERYTHING, AUTH__SESSION_DAYS="10", AUTH__SESSION_IDLE_DAYS="4")
    signed_in = SignedIn(kind, app, person(into=app))
    for _ in range(3):
        clock.step(days=3.2)
        assert signed_in.use(app)
    clock.step(days=0.5)
    assert not signed_in.use(app)


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_ends_after_its_days_without_use(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, kind: str
) -> None:
    app = make_app(**EVERYTHING, AUTH__SESSION_DAYS="10", AUTH__SESSION_IDLE_DAYS="4")
    signed_in = SignedIn(kind, app, person(into=app))
    clock.step(days=4.1)
    assert not signed_in.use(app)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", ["AUTH__SESSION_DAYS", "AUTH__SESSION_IDLE_DAYS"])
def test_lower_limits_end_sessions_that_began_before(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, kind: str, setting: str
) -> None:
    before = make_app(**EVERYTHING)
    now = make_app(**EVERYTHING, **{setting: "2"})
    ada = person(into=before)
    signed_in = SignedIn(kind, before, ada)
    clock.step(days=1.9)
    SignedIn(kind, before, ada)
    assert len(listed(ada.api())) == 3
    clock.step(days=0.2)
    assert not signed_in.use(now)
    assert len(listed(Api(now, token=ada.api().token))) == 3
    assert signed_in.use(before)


def test_the_response_promises_no_more_than_the_session_has(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(**EVERYTHING, AUTH__SESSION_DAYS="10")
    latest = clock.now() + timedelta(days=10, seconds=5)
    for kind in ("token", "refresh token"):
        told: dict[str, Any] = SignedIn(kind, app, person(kind.partition(" ")[0], into=app)).answer
        assert datetime.fromisoformat(told["expires"]) <= latest
