from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_frontdesk.testing import Kit, Person

from app import create_app

OWN = {"Sec-Fetch-Site": "same-origin"}
NEIGHBOUR = {"Sec-Fetch-Site": "same-site", "Origin": "https://blog.example.com"}
AT: dict[str, Any] = {"base_url": "https://pinboard.example.com"}


@pytest.fixture
def app() -> Flask:
    return create_app("sqlite://")


@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    return frontdesk.account("ada")


@pytest.fixture
def browser(app: Flask, ada: Person) -> FlaskClient:
    """A client after Ada has signed in with the form."""
    browser = app.test_client()
    form = {"email": ada.email, "password": ada.password}
    response = browser.post("/login", data=form, headers=OWN, **AT)
    assert response.location == "/"
    return browser


def test_the_form_signs_in_and_out(browser: FlaskClient, ada: Person) -> None:
    assert ada.email in browser.get("/", **AT).text
    assert browser.post("/logout", headers=OWN, **AT).location == "/login"
    assert browser.get("/", **AT).status_code == 401


def test_wrong_password_is_shown_on_the_page(app: Flask, ada: Person) -> None:
    form = {"email": ada.email, "password": ada.password + "?"}
    response = app.test_client().post("/login", data=form, headers=OWN, **AT)
    assert "Incorrect email or password" in response.text
    assert "Set-Cookie" not in response.headers


def test_forms_and_htmx_add_notes(browser: FlaskClient) -> None:
    by_form = browser.post("/notes", data={"text": "Milk is out"}, headers=OWN, **AT)
    assert by_form.location == "/"
    htmx = {**OWN, "HX-Request": "true"}
    assert browser.post("/notes", data={"text": "<b>"}, headers=htmx, **AT).text == (
        "<li>&lt;b&gt;</li>"
    )
    assert "<li>Milk is out</li><li>&lt;b&gt;</li>" in browser.get("/", **AT).text


def test_pages_of_another_site_change_nothing(
    app: Flask, browser: FlaskClient, ada: Person
) -> None:
    added = browser.post("/notes", data={"text": "spam"}, headers=NEIGHBOUR, **AT)
    assert added.status_code == 403
    assert browser.post("/logout", headers=NEIGHBOUR, **AT).status_code == 403
    form = {"email": ada.email, "password": ada.password}
    login = app.test_client().post("/login", data=form, headers=NEIGHBOUR, **AT)
    assert "This request comes from another site" in login.text
    assert "Set-Cookie" not in login.headers
    assert "spam" not in browser.get("/", **AT).text


def test_script_uses_the_same_cookie(browser: FlaskClient, ada: Person) -> None:
    assert browser.get("/api/session", **AT).get_json()["account"]["email"] == ada.email
    assert browser.delete("/api/session", headers=OWN, **AT).status_code == 200
    assert browser.get("/api/session", **AT).status_code == 401
