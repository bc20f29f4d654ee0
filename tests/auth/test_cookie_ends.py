"""How a session that a cookie names ends, and how it goes on under another cookie."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import update

from app.accounts.service import Accounts
from app.auth.caller import caller
from app.auth.sessions.cookie_door import CookieDoor
from app.auth.sessions.models import AccountSession
from app.auth.sign_in.log_out import LogOut
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.testing.clock import SteppingClock

from ..audit.reading import records
from ..conftest import PASSWORD, MakeApp, Person
from ..rigs.cookie_browsers import NAME, CookieBrowser, set_cookie, stored_sessions


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app(AUTH__COOKIE_SESSIONS="on")

    @app.post("/api/v1/step-up")
    def step_up() -> str:
        session = caller().session
        assert session is not None
        service(CookieDoor).rotate(session)
        return "rotated"

    return app


@pytest.fixture
def browser(app: Flask, ada: Person) -> CookieBrowser:
    browser = CookieBrowser(app)
    browser.sign_in(ada)
    return browser


def test_signing_out_ends_this_browsers_session_alone(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    phone, token = CookieBrowser(app), ada.api()
    phone.sign_in(ada)
    held = browser.cookie or ""
    gone = set_cookie(browser.delete("/session"))
    assert gone.startswith(f"{NAME}=;")
    assert "Max-Age=0" in gone
    assert browser.cookie is None
    browser.hold(held)
    browser.get("/account", 401)
    phone.get("/account")
    token.get("/account")
    (recorded,) = records(app, type="session.ended")
    assert (recorded.account_id, recorded.data) == (ada.id, {"reason": "owner"})


def test_a_dead_cookie_can_be_thrown_away(
    browser: CookieBrowser, ada: Person, clock: SteppingClock
) -> None:
    clock.step(days=31)
    browser.get("/session", 401)
    browser.delete("/session")
    assert browser.cookie is None
    browser.delete("/session")


def test_it_ends_after_its_days_and_without_use_before(
    app: Flask, ada: Person, clock: SteppingClock
) -> None:
    used, idle = CookieBrowser(app), CookieBrowser(app)
    used.sign_in(ada)
    idle.sign_in(ada)
    for _ in range(4):
        clock.step(days=6)
        used.get("/account")
    idle.get("/account", 401)
    clock.step(days=5, hours=23)
    used.get("/account")
    clock.step(hours=2)
    used.get("/account", 401)


def by_a_new_password(app: Flask, ada: Person) -> None:
    ada.change(password="another password altogether")


def by_a_new_address(app: Flask, ada: Person) -> None:
    ada.change(email="ada@example.org")


def by_a_logout_elsewhere(app: Flask, ada: Person) -> None:
    ada.api().delete("/logout")


def by_an_operator(app: Flask, ada: Person) -> None:
    with app.app_context():
        service(LogOut).everybody()


def by_its_row(app: Flask, ada: Person) -> None:
    with app.app_context(), transaction(current_frontdesk.session):
        now = current_frontdesk.clock.now()
        current_frontdesk.session.execute(update(AccountSession).values(ended_at=now))


@pytest.mark.parametrize(
    "end",
    [by_a_new_password, by_a_new_address, by_a_logout_elsewhere, by_an_operator, by_its_row],
)
def test_whatever_ends_tokens_ends_it_for_good(
    app: Flask,
    browser: CookieBrowser,
    ada: Person,
    clock: SteppingClock,
    end: Callable[[Flask, Person], None],
) -> None:
    clock.step(seconds=1)
    end(app, ada)
    browser.get("/account", 401)
    browser.patch("/account", 401, json={"phone": None})
    clock.step(seconds=1)
    ada.api().get("/account")
    browser.get("/account", 401)


def test_it_ends_with_its_account(app: Flask, browser: CookieBrowser, ada: Person) -> None:
    with app.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get(ada.email))
    browser.get("/account", 401)
    assert stored_sessions(app) == []


def test_it_does_not_come_back_with_a_suspended_account(
    browser: CookieBrowser, ada: Person
) -> None:
    ada.change(status="suspended")
    browser.get("/account", 401)
    ada.change(status="active")
    browser.get("/account", 401)


def test_a_logout_by_cookie_takes_the_cookie_along(browser: CookieBrowser, ada: Person) -> None:
    browser.delete("/logout")
    assert browser.cookie is None


@pytest.mark.parametrize("query", ["", "?others=true"])
def test_ending_them_all_takes_the_cookie_along_and_ending_the_others_does_not(
    app: Flask, browser: CookieBrowser, ada: Person, query: str
) -> None:
    other = CookieBrowser(app)
    other.sign_in(ada)
    browser.delete(f"/sessions{query}")
    assert (browser.cookie is None) == (not query)
    browser.get("/account", 200 if query else 401)
    other.get("/account", 401)


def test_a_new_password_gives_its_browser_a_new_cookie_and_no_token(
    app: Flask, browser: CookieBrowser, ada: Person, clock: SteppingClock
) -> None:
    other = CookieBrowser(app)
    other.sign_in(ada)
    before = browser.cookie
    clock.step(seconds=1)
    change = {"current_password": PASSWORD, "new_password": "another password altogether"}
    answer = browser.put("/account/password", json=change)
    assert "access_token" not in answer.json
    assert browser.cookie not in (None, before)
    browser.get("/account")
    other.get("/account", 401)


def test_a_client_with_a_token_gets_a_token_for_its_new_password(
    app: Flask, browser: CookieBrowser, ada: Person, clock: SteppingClock
) -> None:
    api = ada.api()
    clock.step(seconds=1)
    change = {"current_password": PASSWORD, "new_password": "another password altogether"}
    answer = api.put("/account/password", json=change)
    assert "Set-Cookie" not in answer.headers
    api.as_token(answer.json["access_token"]).get("/account")


def test_a_session_for_which_more_was_shown_has_another_cookie(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    thief = CookieBrowser(app)
    thief.hold(browser.cookie or "")
    thief.get("/account")
    browser.post("/step-up")
    assert browser.cookie != thief.cookie
    browser.get("/account")
    thief.get("/account", 401)
    assert len(stored_sessions(app)) == 1


def test_who_shows_once_more_who_they_are_has_another_cookie_and_no_token(
    app: Flask, browser: CookieBrowser, ada: Person, clock: SteppingClock
) -> None:
    before = browser.cookie
    clock.step(minutes=20)
    asked = {"email": "ada@example.org"}
    browser.post("/account/email", 403, json=asked)
    answer = browser.post("/reauthenticate", json={"password": PASSWORD})
    assert "access_token" not in answer.json
    assert "refresh_token" not in answer.json
    assert browser.cookie not in (None, before)
    browser.post("/account/email", 202, json=asked)
    thief = CookieBrowser(app)
    thief.hold(before or "")
    thief.get("/account", 401)
    assert len(stored_sessions(app)) == 1
    browser.post("/reauthenticate", 400, json={"password": "not this one"})
    browser.get("/account")


def test_of_two_rotations_at_once_the_browser_keeps_the_one_that_counts(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    url, headers = "/api/v1/account", {"Cookie": f"{NAME}={browser.cookie}"}
    with app.test_request_context(url, headers=headers):
        found = caller().session
        assert found is not None
    first, second = app.test_request_context(url), app.test_request_context(url)
    answers = []
    for context in (first, second):
        with context:
            service(CookieDoor).rotate(found)
            answers.append(app.process_response(app.response_class()).headers.getlist("Set-Cookie"))
    assert len(answers[0]) == 1
    assert answers[1] == []
