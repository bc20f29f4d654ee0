"""Tests `make run` in a fresh clone, on Python without packages.

The first run sets everything up; the next one keeps it; PORT selects another port; settings that a
user adds to `.env` apply. The environment, `.env` and `instance/` stay for the next steps.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

DOTENV = Path(".env")
# A cold machine downloads the packages first.
SECONDS = 300


def main() -> None:
    if DOTENV.exists() or Path("instance").exists():
        sys.exit("This is no fresh clone: .env or instance/ exists.")
    with running(5000) as api:
        created = dotenv()
        sign_in(api, created)
        ask(f"{api}/tasks/", json.dumps({"title": "Kept"}), "application/json")
    text = DOTENV.read_text()
    with running(5001) as api:
        sign_in(api, created)
        assert [task["title"] for task in ask(f"{api}/tasks/")] == ["Kept"]
    assert DOTENV.read_text() == text, "the second run changed .env"
    theirs = f"{text}CORE__API_V1_STR=/theirs/v2\n"
    DOTENV.write_text(theirs)
    with running(5002, "/theirs/v2") as api:
        sign_in(api, created)
    assert DOTENV.read_text() == theirs, "make run changed a user's .env"


@contextmanager
def running(port: int, prefix: str = "/api/v1") -> Iterator[str]:
    api = f"http://127.0.0.1:{port}{prefix}"
    # The default port.
    environment = {**os.environ} | ({} if port == 5000 else {"PORT": str(port)})
    assert not is_ready(api), f"port {port} is taken"
    began = time.monotonic()
    process = subprocess.Popen(["make", "run"], env=environment, stdin=subprocess.DEVNULL)
    try:
        while not is_ready(api):
            assert process.poll() is None, "make run stopped"
            assert time.monotonic() - began < SECONDS, "make run does not respond"
            time.sleep(0.2)
        print(f"ready on port {port} after {time.monotonic() - began:.0f} s", flush=True)
        yield api
    finally:
        process.terminate()
        process.wait(timeout=30)
    assert not is_ready(api), "the server outlives make"


def is_ready(api: str) -> bool:
    try:
        return bool(ask(f"{api}/health/ready"))
    except (URLError, ConnectionError):
        return False


def ask(url: str, body: str | None = None, kind: str | None = None) -> Any:
    """Return the response's JSON; raise HTTPError for an error status."""
    data = body.encode() if body is not None else None
    request = Request(url, data, {"Content-Type": kind} if kind else {})  # noqa: S310
    with urlopen(request, timeout=10) as response:  # noqa: S310
        return json.load(response)


def dotenv() -> dict[str, str]:
    return dict(line.split("=", 1) for line in DOTENV.read_text().splitlines() if "=" in line)


def sign_in(api: str, settings: dict[str, str]) -> None:
    form = {
        "username": settings["FIRST_SUPERUSER"],
        "password": settings["FIRST_SUPERUSER_PASSWORD"],
    }
    assert ask(f"{api}/login", urlencode(form), "application/x-www-form-urlencoded")["access_token"]


if __name__ == "__main__":
    main()
