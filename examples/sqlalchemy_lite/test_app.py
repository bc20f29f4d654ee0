from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from flask import Flask
from flask_frontdesk.testing import Kit

from app import Model, create_app, db


@pytest.fixture
def app() -> Iterator[Flask]:
    app = create_app(os.environ.get("TEST_DATABASE_URL", "sqlite://"))
    yield app
    with app.app_context():
        db.session.close()
        Model.metadata.drop_all(db.engine)


def test_note_sends_a_notification(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada").api()
    assert ada.post("/api/notes", 201, json={"text": "Milk is out"}).json["id"] == 1
    assert [note["text"] for note in ada.get("/api/notes").json] == ["Milk is out"]
    assert ada.get("/api/inbox/").json[0]["message"] == "Milk is out"


def test_users_see_only_their_own_notes(frontdesk: Kit) -> None:
    frontdesk.account("ada").api().post("/api/notes", 201, json={"text": "Milk is out"})
    assert frontdesk.account("bob").api().get("/api/notes").json == []


def test_rejected_note_sends_no_notification(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada").api()
    ada.post("/api/notes", 422, json={"text": ""})
    assert ada.get("/api/inbox/").json == []
