from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_frontdesk.testing import Kit, Person
from werkzeug.test import TestResponse

from app import Base, create_app, db
from app import frontdesk as app_frontdesk

OWN = {"Sec-Fetch-Site": "same-origin"}
AT: dict[str, Any] = {"base_url": "https://pinboard.example.com"}


@pytest.fixture
def app() -> Iterator[Flask]:
    app = create_app(os.environ.get("TEST_DATABASE_URL", "sqlite://"))
    yield app
    with app.app_context():
        db.session.remove()
        Base.metadata.drop_all(db.engine)


@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    return frontdesk.account("ada")


def code_of(secret: str, frontdesk: Kit) -> str:
    """Return the app's current code (RFC 6238)."""
    counter = struct.pack(">Q", int(frontdesk.clock.now().timestamp()) // 30)
    padded = secret + "=" * (-len(secret) % 8)
    digest = hmac.digest(base64.b32decode(padded), counter, hashlib.sha1)
    at = digest[-1] & 15
    number = struct.unpack(">I", digest[at : at + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def send(browser: FlaskClient, path: str, **form: str) -> TestResponse:
    return browser.post(path, data=form, headers=OWN, **AT)


def follow(browser: FlaskClient, response: TestResponse) -> str:
    assert response.status_code == 302, response.text
    return browser.get(response.location, follow_redirects=True, **AT).text


def enter(browser: FlaskClient, ada: Person) -> TestResponse:
    return send(browser, "/sign-in", email=ada.email, password=ada.password)


@pytest.fixture
def browser(app: Flask, ada: Person) -> FlaskClient:
    browser = app.test_client()
    assert enter(browser, ada).location == "/"
    return browser


@pytest.fixture
def secret(browser: FlaskClient, frontdesk: Kit) -> str:
    """Return the secret of Ada's authenticator app."""
    page = send(browser, "/authenticators").text
    [secret] = re.findall(r'id="secret">([^<]+)<', page)
    secret = str(secret).replace(" ", "")
    [confirm] = re.findall(r'action="(/authenticators/[0-9]+/confirm)"', page)
    assert "<svg" in page
    assert "Incorrect code" in send(browser, confirm, otp="000000").text
    codes = send(browser, confirm, otp=code_of(secret, frontdesk)).text
    assert len(re.findall(r"<li><code>", codes)) == 10
    frontdesk.clock.step(seconds=60)
    return secret


def test_a_wrong_password_is_shown_on_the_page(app: Flask, ada: Person) -> None:
    response = send(app.test_client(), "/sign-in", email=ada.email, password=ada.password + "?")
    assert "Incorrect email or password" in response.text


def test_the_second_step_asks_for_a_code(
    app: Flask, ada: Person, secret: str, frontdesk: Kit
) -> None:
    other = app.test_client()
    assert "Enter a code" in follow(other, enter(other, ada))
    assert other.get("/", **AT).location == "/sign-in"
    assert "Incorrect code" in send(other, "/sign-in/code", otp="").text
    assert "Incorrect code" in send(other, "/sign-in/code", otp="0" * 5000).text
    done = send(other, "/sign-in/code", otp=code_of(secret, frontdesk))
    assert ada.email in follow(other, done)


def test_a_recovery_code_signs_in_once(
    app: Flask, ada: Person, browser: FlaskClient, frontdesk: Kit
) -> None:
    page = send(browser, "/authenticators").text
    [secret] = re.findall(r'id="secret">([^<]+)<', page)
    [confirm] = re.findall(r'action="(/authenticators/[0-9]+/confirm)"', page)
    code = code_of(secret.replace(" ", ""), frontdesk)
    [recovery, *_] = re.findall(r"<li><code>([^<]+)<", send(browser, confirm, otp=code).text)
    for expected in ("Your account", "Enter a code"):
        other = app.test_client()
        enter(other, ada)
        done = send(other, "/sign-in/code", recovery_code=recovery)
        page = follow(other, done) if done.status_code == 302 else done.text
        assert f"<h1>{expected}</h1>" in page


def test_a_trusted_device_is_asked_for_no_code(
    app: Flask, ada: Person, secret: str, frontdesk: Kit
) -> None:
    other = app.test_client()
    enter(other, ada)
    done = send(other, "/sign-in/code", otp=code_of(secret, frontdesk), trust="on")
    assert "__Host-device=" in str(done.headers.getlist("Set-Cookie"))
    follow(other, send(other, "/sign-out"))
    assert enter(other, ada).location == "/"


def test_an_expired_second_step_begins_again(
    app: Flask, ada: Person, secret: str, frontdesk: Kit
) -> None:
    other = app.test_client()
    enter(other, ada)
    frontdesk.clock.step(seconds=600)
    late = send(other, "/sign-in/code", otp=code_of(secret, frontdesk))
    assert late.location == "/sign-in"
    assert send(app.test_client(), "/sign-in/code", otp="123456").location == "/sign-in"


def test_form_without_a_code_is_rejected(app: Flask, ada: Person, secret: str) -> None:
    other = app.test_client()
    enter(other, ada)
    response = send(other, "/sign-in/code")
    assert response.status_code == 200
    assert 'role="alert"' in response.text


def test_deleting_notes_asks_for_the_password_after_a_while(
    browser: FlaskClient, ada: Person, frontdesk: Kit
) -> None:
    assert "<button>Delete</button>" in browser.get("/delete-notes", **AT).text
    frontdesk.clock.step(seconds=600)
    response = browser.get("/delete-notes", **AT)
    assert response.location == "/confirm"
    assert "Incorrect email" in send(browser, "/confirm", password=ada.password + "?").text
    assert "<button>Delete</button>" in follow(
        browser, send(browser, "/confirm", password=ada.password)
    )
    assert "All notes are deleted" in send(browser, "/delete-notes").text


def test_deleting_notes_asks_for_a_code_where_there_is_an_app(
    browser: FlaskClient, secret: str, frontdesk: Kit
) -> None:
    frontdesk.clock.step(seconds=600)
    assert browser.get("/delete-notes", **AT).location == "/confirm"
    assert "Code from the app" in browser.get("/confirm", **AT).text
    done = send(browser, "/confirm", otp=code_of(secret, frontdesk))
    assert "<button>Delete</button>" in follow(browser, done)


def test_removing_the_app_asks_for_a_recent_code(
    browser: FlaskClient, secret: str, frontdesk: Kit
) -> None:
    [remove] = re.findall(r'action="(/authenticators/[0-9]+/remove)"', browser.get("/", **AT).text)
    frontdesk.clock.step(seconds=1000)
    assert send(browser, remove).location == "/confirm"
    follow(browser, send(browser, "/confirm", otp=code_of(secret, frontdesk)))
    assert "/remove" not in follow(browser, send(browser, remove))


def test_devices_are_listed_and_ended(app: Flask, ada: Person, browser: FlaskClient) -> None:
    other, third = app.test_client(), app.test_client()
    enter(other, ada)
    enter(third, ada)
    page = browser.get("/devices", **AT).text
    assert page.count("(this device)") == 1
    newest, *_ = re.findall(r'action="(/devices/[^"]+/end)"', page)
    assert follow(browser, send(browser, newest)).count('/end"') == 2
    assert follow(browser, send(browser, newest)).count('/end"') == 2
    assert third.get("/", **AT).location == "/sign-in"
    assert follow(browser, send(browser, "/devices/end-others")).count('/end"') == 1
    assert other.get("/", **AT).location == "/sign-in"


def test_ending_the_own_device_signs_out(browser: FlaskClient) -> None:
    [own] = re.findall(r'action="(/devices/[^"]+/end)"', browser.get("/devices", **AT).text)
    assert "<h1>Sign in</h1>" in follow(browser, send(browser, own))


def test_a_page_of_another_site_does_nothing(app: Flask, ada: Person, browser: FlaskClient) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    form = {"email": ada.email, "password": ada.password}
    guest = app.test_client()
    guest.post("/sign-in", data=form, headers=foreign, **AT)
    assert guest.get("/", **AT).location == "/sign-in"
    assert browser.post("/delete-notes", headers=foreign, **AT).status_code == 403


def test_no_page_has_a_script(browser: FlaskClient, ada: Person) -> None:
    for path in ("/", "/devices", "/delete-notes", "/confirm", "/sign-in", "/sign-in/code"):
        assert "<script" not in browser.get(path, **AT).text
    assert "<script" not in send(browser, "/authenticators").text


def test_inbox_is_read_page_by_page(app: Flask, ada: Person, browser: FlaskClient) -> None:
    with app.app_context():
        for number in range(21):
            app_frontdesk.notify(f"Note {number}", "Bob pinned a note.", receivers=[ada.id])
    newest = browser.get("/inbox", **AT).text
    assert "Note 20" in newest
    assert "Note 0<" not in newest
    [mark, *_] = re.findall(r'action="(/inbox/[0-9]+/read)"', newest)
    assert follow(browser, send(browser, mark)).count("Mark as read") == 19
    [older] = re.findall(r'href="(/inbox[?]before=[0-9]+)"', newest)
    assert "Note 0<" in browser.get(older, **AT).text
