from __future__ import annotations

import re
from datetime import timedelta
from secrets import token_urlsafe
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_frontdesk.testing import Kit, Person

from app import create_app, frontdesk


@pytest.fixture
def app() -> Flask:
    return create_app("sqlite://")


@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    ada = frontdesk.account("ada")
    ada.prefix = ""
    return ada


def sign_in(app: Flask, ada: Person, password: str | None = None) -> tuple[FlaskClient, Any]:
    """Show, fill in and send the form, as a browser does."""
    browser = app.test_client()
    token = re.search(r'name="csrf_token" value="([^"]+)"', browser.get("/login").text)
    assert token is not None
    form = {"email": ada.email, "password": password or ada.password, "csrf_token": token[1]}
    return browser, browser.post("/login", data=form)


def test_user_signs_in_on_the_applications_page(app: Flask, ada: Person) -> None:
    browser, response = sign_in(app, ada)
    assert response.location == "/"
    assert browser.get("/").json == {"hello": ada.email}
    assert app.test_client().get("/").status_code == 401


def test_client_signs_in_with_a_token(app: Flask, ada: Person) -> None:
    assert ada.api().get("/").json == {"hello": ada.email}
    bad = {"Authorization": "Bearer a.b.c"}
    assert app.test_client().get("/", headers=bad).status_code == 401


def test_frontdesk_accepts_the_user_of_flask_login(app: Flask, ada: Person) -> None:
    browser, _ = sign_in(app, ada)
    for path in ("/notes", "/payout", "/api/account", "/api/notifications/"):
        assert browser.get(path).status_code == 200
        assert app.test_client().get(path).status_code == 401
    assert ada.api().get("/notes").json == {"by": ada.email}
    ada.change(status="suspended")
    assert browser.get("/notes").status_code == 401


def test_change_from_another_site_is_rejected(app: Flask, ada: Person) -> None:
    browser, _ = sign_in(app, ada)
    assert browser.post("/notes", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
    evil = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    for method, path in (("POST", "/notes"), ("PATCH", "/api/account")):
        refused = browser.open(path, method=method, headers=evil)
        assert (refused.status_code, refused.json["code"]) == (403, "cross_site")


def test_older_sign_in_is_rejected_where_a_recent_one_is_required(app: Flask, ada: Person) -> None:
    browser, _ = sign_in(app, ada)
    with browser.session_transaction() as session:
        session["signed_in_at"] -= timedelta(minutes=11)
    assert browser.get("/payout").json["code"] == "reauthentication_required"


def test_wrong_password_is_shown_on_the_page_and_counted(app: Flask, ada: Person) -> None:
    for _ in range(5):
        assert "Incorrect email or password" in sign_in(app, ada, "wrong")[1].text
    assert "Too many attempts" in sign_in(app, ada)[1].text


def test_suspension_ends_the_session(app: Flask, ada: Person) -> None:
    browser, _ = sign_in(app, ada)
    ada.change(status="suspended")
    assert browser.get("/").status_code == 401
    assert "Inactive account" in sign_in(app, ada)[1].text


def test_new_password_ends_earlier_cookies(app: Flask, ada: Person) -> None:
    browser, _ = sign_in(app, ada)
    ada.change(password=token_urlsafe())
    assert browser.get("/").status_code == 401
    assert sign_in(app, ada)[0].get("/").json == {"hello": ada.email}


def test_a_sign_out_ends_tokens_and_cookies_until_the_next_sign_in(app: Flask, ada: Person) -> None:
    browser, _ = sign_in(app, ada)
    api = ada.api()
    with app.app_context():
        frontdesk.sign_out(frontdesk.accounts.get(ada.email))
    assert browser.get("/").status_code == 401
    assert api.get("/", 401).detail == "Token expired"
    assert sign_in(app, ada)[0].get("/").json == {"hello": ada.email}


def test_form_needs_a_csrf_token_and_api_routes_do_not(app: Flask, ada: Person) -> None:
    form = {"email": ada.email, "password": ada.password}
    assert app.test_client().post("/login", data=form).status_code == 400
    login = {"username": ada.email, "password": ada.password}
    assert app.test_client().post("/api/login", data=login).status_code == 200


def test_logout_ends_this_session_and_logout_everywhere_all(app: Flask, ada: Person) -> None:
    one, other = sign_in(app, ada)[0], sign_in(app, ada)[0]
    send(one, "/logout")
    assert (one.get("/").status_code, other.get("/").status_code) == (401, 200)
    one = sign_in(app, ada)[0]
    send(one, "/logout-everywhere")
    assert (one.get("/").status_code, other.get("/").status_code) == (401, 401)


def send(browser: FlaskClient, path: str) -> None:
    token = re.search(r'name="csrf_token" value="([^"]+)"', browser.get("/login").text)
    assert token is not None
    assert browser.post(path, data={"csrf_token": token[1]}).status_code == 302
