"""The service's own Flask application."""

from __future__ import annotations

from typing import Any

import pytest
from flask import session

from app.core.web.application import Application


@pytest.fixture
def ours() -> Application:
    app: Application = filled(Application("ours"))
    return app


def filled(app: Any) -> Any:
    app.secret_key = "secret"
    app.add_url_rule("/items/<name>/", "item", lambda name: name)
    return app


def test_a_session_is_saved_where_something_was_done_with_it(ours: Application) -> None:
    @ours.get("/<deed>")
    def do(deed: str) -> str:
        if deed == "write":
            session["word"] = "kept"
        elif deed == "end":
            session.clear()
        return "" if deed == "leave" else str(session.get("word"))

    client = ours.test_client()
    assert "Set-Cookie" in client.get("/write").headers
    read = client.get("/read")
    assert (read.text, read.headers["Vary"]) == ("kept", "Cookie")
    assert "Set-Cookie" in client.get("/end").headers
    assert client.get("/read").text == "None"
    assert "Vary" not in client.get("/leave").headers
