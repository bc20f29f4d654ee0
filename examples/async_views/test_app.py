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
    frontdesk.api().get("/links", 401)
    ada = frontdesk.account("ada")
    assert ada.api().get("/links").json == []


def test_pinned_links_are_stored(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada").api()
    links = ["https://example.com/a", "https://example.com/b"]
    ada.put("/links", json={"links": links})
    assert [each["link"] for each in ada.get("/links").json] == links


def test_invalid_link_is_rejected(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada").api()
    assert ada.put("/links", 422, json={"links": ["abc"]}).faults == ["json:links.0"]
