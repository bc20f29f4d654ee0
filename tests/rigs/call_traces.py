"""Prints as JSON how many files, changes of file and calls within `app` each request takes, and the
functions that a login calls.

A separate program: in the test suite, calls of test doubles would be counted too.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

from werkzeug.test import TestResponse

import app
from app import create_app
from app.delivery.worker.engine import ThreadEngine

# The file below `app` and the function of each call.
Trace = list[tuple[str, str]]


def trace(request: Callable[[], TestResponse]) -> tuple[Trace, Any]:
    """Return each call within `app`, and the response's JSON."""
    calls: Trace = []
    folder = f"{Path(app.__file__).parent}{os.sep}"

    def note(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(folder):
            calls.append((code.co_filename.removeprefix(folder), code.co_qualname))

    sys.setprofile(note)
    try:
        response = request()
    finally:
        sys.setprofile(None)
    assert response.status_code < 300, response.text
    return calls, response.get_json()


def measure(calls: Trace) -> list[int]:
    files = [file for file, _ in calls]
    changes = sum(before != after for before, after in pairwise(files))
    return [len(set(files)), changes, len(files)]


def do_nothing(_engine: ThreadEngine, _channel: str) -> float:
    """Replace the delivery thread's work, which would open database connections."""
    return 60.0


def main() -> None:
    mock.patch.object(ThreadEngine, "_work", do_nothing).start()
    service = create_app()
    password = secrets.token_urlsafe()
    run = service.test_cli_runner().invoke
    run(args=["db", "upgrade"])
    for email, role in (("ada@example.com", "user"), ("boss@example.com", "admin")):
        run(args=["accounts", "create", email, f"--password={password}", "--role", role])
    client = service.test_client()
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
    measured, called = {}, {}
    for name, request in requests.items():
        request()  # compiles statements and loads modules
        called[name] = min((trace(request)[0] for _ in range(3)), key=len)
        measured[name] = measure(called[name])
    functions = list(dict.fromkeys(called["login"]))
    print(json.dumps({"measured": measured, "login": functions}), flush=True)
    # Delivery threads may still use the database, which is deleted now.
    os._exit(0)


if __name__ == "__main__":
    main()
