"""`gunicorn -k gevent`: one thread serves all requests, and a hash must not keep it."""

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
            # The service's own gunicorn.conf.py lies elsewhere.
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


def test_others_are_answered_while_a_password_is_looked_at(address: str) -> None:
    def log_in() -> float:
        form = {"username": "ada@example.com", "password": "wrong"}
        assert httpx.post(f"{address}/login", data=form, timeout=120).status_code == 400
        return time.monotonic()

    def look() -> float:
        assert httpx.get(f"{address}/health", timeout=120).status_code == 200
        return time.monotonic()

    look()
    with ThreadPoolExecutor(1) as pool:
        logged_in = pool.submit(log_in)
        looked = []
        # Many, so that some come after the login has begun; all are soon done, compared with it.
        for _ in range(20):
            looked.append(look())
            time.sleep(0.01)
        assert max(looked) < logged_in.result()
