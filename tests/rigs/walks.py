"""How far a request goes through `app`: files, changes of file, and calls, printed as JSON.

A program of its own: the suite's test doubles would be counted too.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from werkzeug.test import TestResponse

from app import create_app

Walk = list[str]


def walk(request: Callable[[], TestResponse]) -> tuple[Walk, Any]:
    """Return the file of each call within `app`, and the response's JSON."""
    files: Walk = []
    folder = f"{os.sep}app{os.sep}"

    def note(frame: Any, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and folder in path and "site-packages" not in path:
            files.append(path)

    sys.setprofile(note)
    try:
        response = request()
    finally:
        sys.setprofile(None)
    assert response.status_code < 300, response.text
    return files, response.get_json()


def measure(files: Walk) -> list[int]:
    changes = sum(before != after for before, after in pairwise(files))
    return [len(set(files)), changes, len(files)]


def main() -> None:
    app = create_app()
    password = secrets.token_urlsafe()
    run = app.test_cli_runner().invoke
    run(args=["db", "upgrade"])
    for email, role in (("ada@example.com", "user"), ("boss@example.com", "admin")):
        run(args=["accounts", "create", email, f"--password={password}", "--role", role])
    client = app.test_client()
    sent = {"data": {"title": "x", "message": "y", "channels": ["inapp", "email"]}}

    def login(email: str = "ada@example.com") -> TestResponse:
        return client.post("/api/v1/login", data={"username": email, "password": password})

    headers = [
        {"Authorization": f"Bearer {login(email).get_json()['access_token']}"}
        for email in ("ada@example.com", "boss@example.com")
    ]
    mine, admin = headers
    requests: dict[str, Callable[[], TestResponse]] = {
        "login": login,
        "account read": lambda: client.get("/api/v1/account", headers=mine),
        "admin send": lambda: client.post("/api/v1/admin/notifications/", json=sent, headers=admin),
        "inbox page": lambda: client.get("/api/v1/notifications/?limit=50", headers=mine),
    }
    measured = {}
    for name, request in requests.items():
        request()  # compiles statements and loads modules
        measured[name] = measure(walk(request)[0])
    print(json.dumps(measured), flush=True)
    # Delivery threads may still be at work on a database that goes away.
    os._exit(0)


if __name__ == "__main__":
    main()
