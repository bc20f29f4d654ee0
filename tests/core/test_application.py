"""The service's own Flask application."""

from __future__ import annotations

from typing import Any

import pytest
from flask import session

from app.core.web.application import Application


@pytest.fixture
def application() -> Application:
    app: Application = configured(Application("service"))
    return app


def configured(app: Any) -> Any:
    app.secret_key = "secret"
    app.add_url_rule("/items/<name>/", "item", lambda name: name)
    return app


def test_session_is_saved_only_if_it_was_used(application: Application) -> None:
    @application.get("/<action>")
    def do(action: str) -> str:
        if action == "write":
            session["word"] = "kept"
        elif action == "end":
            session.clear()
        return "" if action == "leave" else str(session.get("word"))

    client = application.test_client()
    assert "Set-Cookie" in client.get("/write").headers
    read = client.get("/read")
    assert (read.text, read.headers["Vary"]) == ("kept", "Cookie")
    assert "Set-Cookie" in client.get("/end").headers
    assert client.get("/read").text == "None"
    assert "Vary" not in client.get("/leave").headers
