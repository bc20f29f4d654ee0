from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from flask import Flask
from flask_frontdesk.testing import Kit

from app import create_app, db


@pytest.fixture
def app() -> Iterator[Flask]:
    app = create_app(os.environ.get("TEST_DATABASE_URL", "sqlite://"))
    yield app
    with app.app_context():
        db.drop_all()


def test_a_coroutine_requires_a_token(frontdesk: Kit) -> None:
    frontdesk.api().get("/prices", 401)
    ada = frontdesk.account("ada")
    assert ada.api().get("/prices").json == []


def test_chosen_symbols_are_stored(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada").api()
    ada.put("/watched", json={"symbols": ["ABC", "DE"]})
    assert [each["symbol"] for each in ada.get("/prices").json] == ["ABC", "DE"]


def test_an_invalid_symbol_is_rejected(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada").api()
    assert ada.put("/watched", 422, json={"symbols": ["abc"]}).faults == ["json:symbols.0"]
