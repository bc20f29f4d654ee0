"""How cookie sessions end, and when the session gets a new cookie."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import update

from app.accounts.service import Accounts
from app.auth.caller import caller
from app.auth.sessions.cookie_sessions import CookieSessions
from app.auth.sessions.models import AccountSession
from app.auth.sign_in.sign_out import SignOut
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.testing.clock import SteppingClock

from ..audit.entries import records
from ..conftest import PASSWORD, MakeApp, Person
from ..rigs.cookie_browsers import NAME, CookieBrowser, set_cookie, stored_sessions


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app(AUTH__COOKIE_SESSIONS="on")

    @app.post("/api/v1/step-up")
    def step_up() -> str:
        session = caller().session
        assert session is not None
        service(CookieSessions).rotate(session)
        return "rotated"

    return app


@pytest.fixture
def browser(app: Flask, ada: Person) -> CookieBrowser:
    browser = CookieBrowser(app)
    browser.sign_in(ada)
    return browser


def test_sign_out_ends_only_this_browsers_session(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    phone, token = CookieBrowser(app), ada.api()
    phone.sign_in(ada)
    old_cookie = browser.cookie or ""
    deleted = set_cookie(browser.delete("/session"))
    assert deleted.startswith(f"{NAME}=;")
    assert "Max-Age=0" in deleted
    assert browser.cookie is None
    browser.use_cookie(old_cookie)
    browser.get("/account", 401)
    phone.get("/account")
    token.get("/account")
    (recorded,) = records(app, type="session.ended")
    assert (recorded.account_id, recorded.data) == (ada.id, {"reason": "owner"})


def test_expired_cookie_can_be_deleted(
    browser: CookieBrowser, ada: Person, clock: SteppingClock
) -> None:
    clock.step(days=31)
    browser.get("/session", 401)
    browser.delete("/session")
    assert browser.cookie is None
    browser.delete("/session")


def test_session_expires_when_idle_and_after_its_maximum_lifetime(
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


def change_password(app: Flask, ada: Person) -> None:
    ada.change(password="another password altogether")


def change_email(app: Flask, ada: Person) -> None:
    ada.change(email="ada@example.org")


def log_out_elsewhere(app: Flask, ada: Person) -> None:
    ada.api().delete("/logout")


def sign_everybody_out(app: Flask, ada: Person) -> None:
    with app.app_context():
        service(SignOut).everybody()


def end_row(app: Flask, ada: Person) -> None:
    with app.app_context(), transaction(current_frontdesk.session):
        now = current_frontdesk.clock.now()
        current_frontdesk.session.execute(update(AccountSession).values(ended_at=now))


@pytest.mark.parametrize(
    "end", [change_password, change_email, log_out_elsewhere, sign_everybody_out, end_row]
)
def test_events_that_revoke_tokens_end_the_session(
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


def test_deleting_the_account_deletes_its_sessions(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    with app.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get(ada.email))
    browser.get("/account", 401)
    assert stored_sessions(app) == []


def test_session_stays_ended_when_a_suspension_is_lifted(
    browser: CookieBrowser, ada: Person
) -> None:
    ada.change(status="suspended")
    browser.get("/account", 401)
    ada.change(status="active")
    browser.get("/account", 401)


def test_logout_by_cookie_deletes_the_cookie(browser: CookieBrowser, ada: Person) -> None:
    browser.delete("/logout")
    assert browser.cookie is None


@pytest.mark.parametrize("query", ["", "?others=true"])
def test_ending_all_sessions_deletes_the_cookie_and_ending_others_keeps_it(
    app: Flask, browser: CookieBrowser, ada: Person, query: str
) -> None:
    other = CookieBrowser(app)
    other.sign_in(ada)
    browser.delete(f"/sessions{query}")
    assert (browser.cookie is None) == (not query)
    browser.get("/account", 200 if query else 401)
    other.get("/account", 401)


def test_password_change_by_cookie_renews_the_cookie_and_returns_no_token(
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


def test_password_change_by_token_returns_a_token(
    app: Flask, browser: CookieBrowser, ada: Person, clock: SteppingClock
) -> None:
    api = ada.api()
    clock.step(seconds=1)
    change = {"current_password": PASSWORD, "new_password": "another password altogether"}
    answer = api.put("/account/password", json=change)
    assert "Set-Cookie" not in answer.headers
    api.as_token(answer.json["access_token"]).get("/account")


def test_rotation_replaces_the_cookie(app: Flask, browser: CookieBrowser, ada: Person) -> None:
    attacker = CookieBrowser(app)
    attacker.use_cookie(browser.cookie or "")
    attacker.get("/account")
    browser.post("/step-up")
    assert browser.cookie != attacker.cookie
    browser.get("/account")
    attacker.get("/account", 401)
    assert len(stored_sessions(app)) == 1


def test_reauthentication_replaces_the_cookie_and_returns_no_token(
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
    attacker = CookieBrowser(app)
    attacker.use_cookie(before or "")
    attacker.get("/account", 401)
    assert len(stored_sessions(app)) == 1
    browser.post("/reauthenticate", 400, json={"password": "not this one"})
    browser.get("/account")


def test_only_the_first_of_two_rotations_sets_a_cookie(
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
            service(CookieSessions).rotate(found)
            answers.append(app.process_response(app.response_class()).headers.getlist("Set-Cookie"))
    assert len(answers[0]) == 1
    assert answers[1] == []
