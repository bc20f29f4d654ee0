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


def test_a_loan_sends_a_notification(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada").api()
    assert ada.post("/api/loans", 201, json={"title": "Middlemarch"}).json["id"] == 1
    assert [loan["title"] for loan in ada.get("/api/loans").json] == ["Middlemarch"]
    assert ada.get("/api/inbox/").json[0]["message"] == "Middlemarch"


def test_readers_see_only_their_own_loans(frontdesk: Kit) -> None:
    frontdesk.account("ada").api().post("/api/loans", 201, json={"title": "Middlemarch"})
    assert frontdesk.account("bob").api().get("/api/loans").json == []


def test_a_rejected_loan_sends_no_notification(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada").api()
    ada.post("/api/loans", 422, json={"title": ""})
    assert ada.get("/api/inbox/").json == []
