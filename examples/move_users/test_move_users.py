"""Both applications on one database, one after the other, as in the migration."""

from __future__ import annotations

import os
from pathlib import Path
from secrets import token_urlsafe

import after
import bcrypt
import before
import pytest
from flask import Flask
from flask_frontdesk.testing import Kit, Person
from flask_migrate import check, upgrade
from werkzeug.security import generate_password_hash

MIGRATIONS = str(Path(__file__).parent / "migrations")
ADAS, BOBS = token_urlsafe(), token_urlsafe()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return os.environ.get("TEST_DATABASE_URL") or f"sqlite:///{tmp_path / 'pinboard.db'}"


@pytest.fixture
def app(url: str) -> Flask:
    old = after.create_app(url)
    with old.app_context():
        upgrade(MIGRATIONS, "0001_pinboard")
    fill(before.create_app(url))
    new = after.create_app(url)
    with new.app_context():
        # [upgrade]
        upgrade(MIGRATIONS, "pinboard@head")
        upgrade(MIGRATIONS, "heads")
        # [end]
    return new


def fill(old: Flask) -> None:
    hashed = bcrypt.hashpw(ADAS.encode(), bcrypt.gensalt(4)).decode()
    bobs = generate_password_hash(BOBS, "scrypt:1024:8:1")
    with old.app_context():
        for number, (name, kept) in enumerate([("Ada", hashed), ("Bob", bobs)], 1):
            user = before.User(
                id=number,
                mail=f"{name}@Example.com",
                name=name,
                hashed=kept,
                is_admin=name == "Ada",
                is_blocked=False,
            )
            before.db.session.add(user)
            before.db.session.flush()
            before.db.session.add(before.Note(user_id=user.id, text=f"{name}'s note"))
        before.db.session.commit()


def test_users_become_accounts(app: Flask, frontdesk: Kit) -> None:
    ada = Person(app, 1, "ada@example.com", password=ADAS)
    assert ada.api().get("/notes").json == ["Ada's note"]
    assert ada.api().get("/api/account").json["role"] == "admin"

    bobs = Person(app, 2, "bob@example.com", password=BOBS).api()
    assert bobs.get("/notes").json == ["Bob's note"]

    eve = frontdesk.account("eve", name="Eve")
    assert eve.id > 2
    assert eve.api().get("/notes").json == []

    with app.app_context():
        # A further migration would have nothing to change.
        check(MIGRATIONS)
