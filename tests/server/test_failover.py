"""Switchover and failover between two PostgreSQL servers while clients use the service."""

from __future__ import annotations

import time
from pathlib import Path

from ..conftest import SECRET
from ..rigs.clusters import Cluster, postgres_cluster
from ..rigs.servers import gunicorn_server
from ..rigs.traffic import Ledger, migrate_with_accounts, sign_in_clients, stored_titles, traffic

RECOVERY_SECONDS = 10.0
STEADY_SECONDS = 1.0
OUTAGE_SECONDS = 1.0


def promote(cluster: Cluster, ledger: Ledger) -> None:
    """Promote a standby, and wait until the service reads and writes with it."""
    time.sleep(OUTAGE_SECONDS)
    cluster.wait_for_standby(False)
    at = time.monotonic()
    cluster.promote()
    for kind in ("account", "write"):
        while True:
            try:
                assert ledger.first_success(kind, at) < RECOVERY_SECONDS
                break
            except ValueError:
                assert time.monotonic() - at < RECOVERY_SECONDS, f"{kind} requests still fail"
                time.sleep(0.05)
    time.sleep(STEADY_SECONDS)


def test_no_acknowledged_write_is_lost_by_a_switchover_and_by_a_crash_of_the_primary(
    tmp_path: Path,
) -> None:
    with postgres_cluster() as first:
        migrate_with_accounts(first.url)
        with postgres_cluster(of=first) as second:
            first.wait_for_standby(True)
            settings = {
                "SECRET_KEY": SECRET,
                "CORE__DATABASE_URL": (
                    f"postgresql://postgres@127.0.0.1:{first.port},127.0.0.1:{second.port}"
                    "/postgres?target_session_attrs=read-write"
                ),
                "CORE__KEYSTORE": "database",
                "AUTH__BCRYPT_ROUNDS": "4",
                "TASKS__CREATE_LIMIT": "1000000 per minute",
                "WEB_CONCURRENCY": "2",
            }
            log = tmp_path / "log"
            with gunicorn_server(settings, log) as server:
                active, revoked = sign_in_clients(server.port)
                workers = server.workers()
                with traffic(server.port, active, revoked) as ledger:
                    time.sleep(STEADY_SECONDS)
                    first.stop()
                    promote(second, ledger)
                    first.follow(second)
                    second.wait_for_standby(True)
                    time.sleep(STEADY_SECONDS)
                    second.stop("immediate")
                    promote(first, ledger)
                assert server.workers() == workers
                assert set(ledger.acknowledged) <= stored_titles(server.port)
    assert ledger.statuses("account") == {200, 503}
    assert ledger.statuses("write") == {201, 503}
    assert ledger.statuses("revoked") == {401, 503}
    assert ledger.statuses("health") == {200}
    assert len(ledger.acknowledged) > 20
    assert "Unhandled" not in log.read_text()
