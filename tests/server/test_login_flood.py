"""Many concurrent sign-ins, each of which keeps a core busy for a quarter of a second."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from ..conftest import SECRET
from ..rigs.servers import gunicorn
from ..rigs.traffic import Client, migrate_with_accounts


def test_health_responds_quickly_during_many_sign_ins(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'frontdesk.db'}"
    migrate_with_accounts(url)
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": url,
        "AUTH__RATE_LIMITS_ENABLED": "false",
    }
    over = threading.Event()
    statuses: set[int] = set()

    def flood(port: int) -> None:
        form = {"username": "unknown@example.com", "password": "wrong"}
        while not over.is_set():
            statuses.add(Client(port).ask("POST", "/login", form=form)[0])

    with gunicorn(settings, tmp_path / "log") as port:
        threads = [threading.Thread(target=flood, args=(port,)) for _ in range(16)]
        for thread in threads:
            thread.start()
        try:
            slowest = 0.0
            for _ in range(20):
                began = time.monotonic()
                assert Client(port).ask("GET", "/health")[0] == 200
                slowest = max(slowest, time.monotonic() - began)
                time.sleep(0.05)
        finally:
            over.set()
            for thread in threads:
                thread.join()
    assert statuses <= {400, 503}
    assert slowest < 2
