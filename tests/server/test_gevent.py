"""`gunicorn -k gevent`: hashing a password must not block the only thread."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from ..rigs.backends import free_port, wait_for_port
from ..rigs.servers import checkout_environment


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    port = free_port()
    command = ["-m", "gunicorn", "-k", "gevent", "-b", f"127.0.0.1:{port}"]
    with (tmp_path / "gunicorn.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, *command, "tests.rigs.slow_login:make_host()"],
            # Another folder, because this one has the service's gunicorn.conf.py.
            cwd=tmp_path,
            env=checkout_environment(),
            stdout=log,
            stderr=log,
        )
        try:
            wait_for_port(port, 30)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=30)


def test_other_requests_proceed_while_a_password_is_hashed(address: str) -> None:
    def sign_in() -> float:
        form = {"username": "ada@example.com", "password": "wrong"}
        assert httpx.post(f"{address}/login", data=form, timeout=120).status_code == 400
        return time.monotonic()

    def check_health() -> float:
        assert httpx.get(f"{address}/health", timeout=120).status_code == 200
        return time.monotonic()

    check_health()
    with ThreadPoolExecutor(1) as pool:
        sign_in_end = pool.submit(sign_in)
        checked = []
        # Several requests, so that some arrive during the sign-in.
        for _ in range(20):
            checked.append(check_health())
            time.sleep(0.01)
        assert max(checked) < sign_in_end.result()
