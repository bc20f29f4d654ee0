"""Session lifetimes: AUTH.SESSION_DAYS and AUTH.SESSION_IDLE_DAYS, whichever is reached first."""

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

SETTINGS = {
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__REFRESH_TOKEN_DAYS": "300",
    "AUTH__ACCESS_TOKEN_EXPIRE_MINUTES": str(200 * 24 * 60),
}
KINDS = ("token", "refresh token", "cookie")


class SignedInClient:
    """A client with one kind of credential, for any application on the same database."""

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
        """Use the credential; return whether it is still accepted."""
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
def test_session_ends_after_its_maximum_lifetime(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, kind: str
) -> None:
    app = make_app(**SETTINGS, AUTH__SESSION_DAYS="10", AUTH__SESSION_IDLE_DAYS="4")
    signed_in = SignedInClient(kind, app, person(into=app))
    for _ in range(3):
        clock.step(days=3.2)
        assert signed_in.use(app)
    clock.step(days=0.5)
    assert not signed_in.use(app)


@pytest.mark.parametrize("kind", KINDS)
def test_unused_session_ends_after_the_idle_time(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, kind: str
) -> None:
    app = make_app(**SETTINGS, AUTH__SESSION_DAYS="10", AUTH__SESSION_IDLE_DAYS="4")
    signed_in = SignedInClient(kind, app, person(into=app))
    clock.step(days=4.1)
    assert not signed_in.use(app)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", ["AUTH__SESSION_DAYS", "AUTH__SESSION_IDLE_DAYS"])
def test_lower_limits_apply_to_existing_sessions(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, kind: str, setting: str
) -> None:
    before = make_app(**SETTINGS)
    now = make_app(**SETTINGS, **{setting: "2"})
    ada = person(into=before)
    signed_in = SignedInClient(kind, before, ada)
    clock.step(days=1.9)
    SignedInClient(kind, before, ada)
    assert len(listed(ada.api())) == 3
    clock.step(days=0.2)
    assert not signed_in.use(now)
    assert len(listed(Api(now, token=ada.api().token))) == 3
    assert signed_in.use(before)


def test_reported_expiry_is_not_after_the_session_ends(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(**SETTINGS, AUTH__SESSION_DAYS="10")
    latest = clock.now() + timedelta(days=10, seconds=5)
    for kind in ("token", "refresh token"):
        response: dict[str, Any] = SignedInClient(
            kind, app, person(kind.partition(" ")[0], into=app)
        ).answer
        assert datetime.fromisoformat(response["expires"]) <= latest
