from __future__ import annotations

import os
import re
from collections.abc import Iterator
from secrets import token_urlsafe
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_frontdesk.testing import Kit
from werkzeug.security import generate_password_hash

from app import Note, User, create_app, db

PASSWORD = token_urlsafe()


@pytest.fixture
def app() -> Iterator[Flask]:
    app = create_app(os.environ.get("TEST_DATABASE_URL", "sqlite://"))
    with app.app_context():
        db.create_all()
    yield app
    with app.app_context():
        db.session.remove()
        db.drop_all()


@pytest.fixture
def ada(app: Flask) -> UUID:
    """Create a user with the application's existing code."""
    with app.app_context():
        user = User(
            email="ada@example.com",
            name="Ada",
            # The default cost would slow each test down.
            password_hash=generate_password_hash(PASSWORD, method="scrypt:1024:8:1"),
        )
        db.session.add(user)
        db.session.flush()
        db.session.add(Note(user_id=user.id, text="Milk is out"))
        db.session.commit()
        return user.id


def bearer_header(frontdesk: Kit) -> dict[str, str]:
    form = {"username": "ada@example.com", "password": PASSWORD}
    token = frontdesk.api().post("/api/login", data=form).json["access_token"]
    return {"Authorization": f"Bearer {token}"}


def sign_in(app: Flask, password: str) -> FlaskClient:
    browser = app.test_client()
    token = re.search(r'name="csrf_token" value="([^"]+)"', browser.get("/login").text)
    assert token is not None
    form = {"email": "ada@example.com", "password": password, "csrf_token": token[1]}
    browser.post("/login", data=form)
    return browser


# [test]
def test_an_existing_password_works_and_gets_a_bcrypt_hash(app: Flask, ada: UUID) -> None:
    assert sign_in(app, PASSWORD).get("/notes").json == {"name": "Ada", "notes": ["Milk is out"]}
    with app.app_context():
        user = db.session.get_one(User, ada)
        assert (user.password_hash or "").startswith("$2b$")
    assert sign_in(app, PASSWORD).get("/notes").status_code == 200


# [end]


def test_a_wrong_password_is_rejected(app: Flask, ada: UUID) -> None:
    assert sign_in(app, "wrong").get("/notes").status_code == 401


def test_forms_need_a_csrf_token_and_api_routes_do_not(
    app: Flask, ada: UUID, frontdesk: Kit
) -> None:
    form = {"email": "ada@example.com", "password": PASSWORD}
    assert app.test_client().post("/login", data=form).status_code == 400
    headers = bearer_header(frontdesk)
    assert frontdesk.api().get("/api/notes", headers=headers).json == ["Milk is out"]
    assert frontdesk.api().get("/api/account", headers=headers).json["id"] == str(ada)


def test_account_ids_are_uuids(app: Flask, ada: UUID, frontdesk: Kit) -> None:
    grace = frontdesk.account("grace", role="admin", name="Grace").api()
    data = {"title": "Maintenance", "message": "Tomorrow", "channels": ["inapp"]}
    grace.post(f"/api/broadcasts/?account_receiver_ids={ada}", 201, json={"data": data})
    headers = bearer_header(frontdesk)
    [item] = frontdesk.api().get("/api/inbox/", headers=headers).json
    assert (item["title"], item["receiver_id"]) == ("Maintenance", str(ada))


def test_sign_out_by_the_api_ends_the_cookie_session(app: Flask, ada: UUID, frontdesk: Kit) -> None:
    browser = sign_in(app, PASSWORD)
    headers = bearer_header(frontdesk)
    frontdesk.api().delete("/api/logout", headers=headers)
    assert browser.get("/notes").status_code == 401


def test_a_new_password_ends_cookie_sessions(app: Flask, ada: UUID, frontdesk: Kit) -> None:
    browser = sign_in(app, PASSWORD)
    assert browser.get("/notes").status_code == 200
    new = token_urlsafe()
    body = {"current_password": PASSWORD, "new_password": new}
    headers = bearer_header(frontdesk)
    frontdesk.api().put("/api/account/password", json=body, headers=headers)
    assert browser.get("/notes").status_code == 401
    assert sign_in(app, new).get("/notes").status_code == 200
