"""The service on granian, with the command of the documentation."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ..conftest import SECRET
from ..rigs.backends import free_port, wait_for_port
from ..rigs.processes import within
from ..rigs.servers import ROOT, Server, checkout_environment
from ..rigs.traffic import Client, migrate_with_accounts, sign_in_clients, stored_titles, traffic

PAGE = (ROOT / "docs" / "gunicorn.md").read_text()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    url = f"sqlite:///{tmp_path / 'frontdesk.db'}"
    migrate_with_accounts(url)
    [command] = re.findall(r"^granian (.* wsgi:app)$", PAGE, re.MULTILINE)
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": url,
        "CORE__KEYSTORE": "database",
        "AUTH__RATE_LIMITS_ENABLED": "false",
        # The traffic of the test comes from one IP address.
        "TASKS__CREATE_LIMIT": "1000000 per minute",
        "GRANIAN_PORT": str(port := free_port()),
    }
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("granian"), *command.split()],
            env=checkout_environment(**settings),
            stdout=log,
            stderr=log,
        )
    try:
        wait_for_port(port, 30)
        yield Server(port, process)
    finally:
        process.kill()
        process.wait()


def test_documented_command_signs_in_reloads_and_stops_without_a_lost_request(
    server: Server,
) -> None:
    active, revoked = sign_in_clients(server.port)
    form = {"username": "unknown@example.com", "password": "wrong"}

    def sign_in(_: int = 0) -> int:
        return Client(server.port).ask("POST", "/login", form=form)[0]

    with traffic(server.port, active, revoked, login=sign_in) as ledger:
        before = set(server.workers())
        server.send(signal.SIGHUP)
        # The process that tracks shared memory stays.
        within(60, lambda: len(set(server.workers()) & before) <= 1)
        time.sleep(0.5)
    expected = {"account": 200, "revoked": 401, "write": 201, "health": 200, "login": 400}
    assert {kind: ledger.statuses(kind) for kind in expected} == {
        kind: {status} for kind, status in expected.items()
    }
    assert set(ledger.acknowledged) <= stored_titles(server.port)
    with ThreadPoolExecutor(4) as pool:
        sign_ins = pool.map(sign_in, range(4))
        time.sleep(0.2)
        server.send(signal.SIGTERM)
        assert list(sign_ins) == [400] * 4
    assert server.process.wait(timeout=35) == 0
