from __future__ import annotations

import pytest
from flask import Flask
from flask_frontdesk.testing import Kit, Person

from app import POLICY, create_app


@pytest.fixture
def app() -> Flask:
    return create_app("sqlite://")


@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    return frontdesk.account("ada")


def test_page_has_the_inbox_and_the_policy(app: Flask, ada: Person) -> None:
    headers = {"Authorization": f"Bearer {ada.token()}"}
    page = app.test_client().get("/", headers=headers)
    assert "<frontdesk-inbox>" in page.text
    assert page.headers["Content-Security-Policy"] == POLICY
    src = page.text.partition('src="')[2].partition('"')[0]
    assert app.test_client().get(src).status_code == 200


def test_note_is_announced_with_its_link(app: Flask, ada: Person) -> None:
    ada.api().post("/notes", 302, data={"text": "Milk is out"})
    [item] = ada.api().get("/api/notifications/").json
    assert (item["title"], item["kind"]) == ("A note was pinned", "notes")
    assert item["links"]["open"] == "http://localhost:5000/notes/1"
    assert "Milk is out" in ada.api().get("/notes/1").response.text
