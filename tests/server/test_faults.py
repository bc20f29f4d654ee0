"""Outages of PostgreSQL, Redis and a web worker while clients use the service.

Clients read with a valid and with a revoked token, write, and request the health route. During a
fault the service may respond with 503 and no other error. Acknowledged writes survive, and the
revoked token is never accepted.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..conftest import PASSWORD, SECRET
from ..rigs.backends import reserved_port
from ..rigs.clusters import Cluster, postgres_cluster
from ..rigs.servers import Server, gunicorn_server
from ..rigs.stores import Store
from ..rigs.tcp_proxy import TcpProxy
from ..rigs.traffic import (
    NO_RESPONSE,
    Client,
    Ledger,
    migrate_with_accounts,
    sign_in_clients,
    stored_titles,
    traffic,
)

RECOVERY_SECONDS = 2.0
RESPONSE_SECONDS = 5.0


@dataclass
class Deployment:
    """The service under gunicorn with its own PostgreSQL and Redis."""

    server: Server
    cluster: Cluster
    database_proxy: TcpProxy
    keystore: Store
    active: Client
    revoked: Client
    log: Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with postgres_cluster() as cluster:
        migrate_with_accounts(cluster.url)
        yield cluster


@pytest.fixture(scope="module")
def deployment(cluster: Cluster, folder: Path) -> Iterator[Deployment]:
    keystore = Store(folder, reserved_port())
    keystore.start()
    database_proxy = TcpProxy("127.0.0.1", cluster.port)
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": cluster.url.replace(str(cluster.port), str(database_proxy.port)),
        "CORE__REDIS_URL": f"redis://127.0.0.1:{keystore.port}/0",
        "AUTH__BCRYPT_ROUNDS": "4",
        # The traffic of the tests comes from one IP address.
        "TASKS__CREATE_LIMIT": "1000000 per minute",
        "WEB_CONCURRENCY": "2",
    }
    log = folder / "log"
    try:
        with gunicorn_server(settings, log) as server:
            active, revoked = sign_in_clients(server.port)
            yield Deployment(server, cluster, database_proxy, keystore, active, revoked, log)
    finally:
        database_proxy.cut()
        keystore.stop()


@pytest.fixture
def running(deployment: Deployment) -> Iterator[Ledger]:
    """Run traffic during the whole test and check its responses at the end."""
    with traffic(deployment.server.port, deployment.active, deployment.revoked) as ledger:
        time.sleep(0.2)
        yield ledger
        # Restore the servers in case the test failed during its fault.
        deployment.database_proxy.speak()
        deployment.keystore.revive()
        # Both workers have reconnected: every request succeeds from here on.
        time.sleep(RECOVERY_SECONDS)
        settled = time.monotonic()
        time.sleep(0.3)
    assert ledger.statuses("revoked") <= {401, 503, NO_RESPONSE}, "a revoked token was accepted"
    assert ledger.statuses("revoked", settled) == {401}
    assert ledger.statuses("account", settled) == {200}
    assert ledger.statuses("write", settled) == {201}
    assert set(ledger.acknowledged) <= stored_titles(deployment.server.port), (
        "an acknowledged write is lost"
    )
    assert ledger.slowest("account") < RESPONSE_SECONDS
    # The delivery thread may log failed rounds. Requests must not fail unexpectedly.
    assert "Unhandled" not in deployment.log.read_text()


def wait_for_recovery(ledger: Ledger, kind: str) -> None:
    """Wait until requests of this kind succeed, at most two seconds."""
    at = time.monotonic()
    while True:
        time.sleep(0.05)
        try:
            assert ledger.first_success(kind, at) < RECOVERY_SECONDS
            return
        except ValueError:
            assert time.monotonic() - at < RECOVERY_SECONDS + 0.5, f"{kind} requests still fail"


def wait_for_detection() -> float:
    """Wait until both workers have noticed the fault, then half a second; return when that
    began."""
    time.sleep(4.5)
    at = time.monotonic()
    time.sleep(0.5)
    return at


def test_service_recovers_from_postgresql_restart(deployment: Deployment, running: Ledger) -> None:
    deployment.cluster.stop()
    time.sleep(0.5)
    deployment.cluster.start()
    wait_for_recovery(running, "account")
    wait_for_recovery(running, "write")
    assert running.statuses("account") == {200, 503}
    assert running.statuses("write") <= {201, 503}
    assert running.statuses("health") == {200}


def test_service_recovers_from_postgresql_crash(deployment: Deployment, running: Ledger) -> None:
    deployment.cluster.stop("immediate")
    deployment.cluster.start()
    wait_for_recovery(running, "account")
    wait_for_recovery(running, "write")
    assert running.statuses("account") <= {200, 503}
    assert running.statuses("write") <= {201, 503}
    assert running.statuses("health") == {200}


def test_requests_fail_fast_while_postgresql_is_silent(
    deployment: Deployment, running: Ledger
) -> None:
    deployment.database_proxy.silent = True
    rejected = wait_for_detection()
    assert running.statuses("account", rejected) == {503}
    assert running.slowest("account", rejected) < 1, "requests wait for a silent database"
    deployment.database_proxy.restore()
    wait_for_recovery(running, "account")
    wait_for_recovery(running, "write")
    assert running.statuses("write") <= {201, 503}
    assert running.statuses("health") == {200}
    assert running.slowest("health") < 1


def test_requests_succeed_while_postgresql_is_slow(deployment: Deployment, running: Ledger) -> None:
    deployment.database_proxy.delay = 0.5
    time.sleep(3)
    assert running.statuses("account") == {200}
    assert running.statuses("write") <= {201, 503}
    deployment.database_proxy.speak()
    wait_for_recovery(running, "account")
    wait_for_recovery(running, "write")
    assert running.statuses("health") == {200}
    assert running.slowest("health") < 1


@pytest.mark.parametrize("fault", ["down", "silent"])
def test_account_reads_succeed_while_redis_is_unreachable(
    deployment: Deployment, running: Ledger, fault: str
) -> None:
    if fault == "down":
        deployment.keystore.stop()
    else:
        deployment.keystore.send(signal.SIGSTOP)
    wait_for_detection()
    if fault == "down":
        deployment.keystore.start()
    else:
        deployment.keystore.send(signal.SIGCONT)
    # Reading an account does not use Redis.
    assert running.statuses("account") == {200}
    assert running.statuses("revoked") == {401}
    assert running.slowest("account") < 1
    assert running.statuses("health") == {200}
    # The rate limit for new tasks uses Redis.
    assert running.statuses("write") == {201, 503}


@pytest.mark.parametrize("fault", ["flushed", "restarted empty"])
def test_revoked_token_stays_revoked_after_redis_loses_its_data(
    deployment: Deployment, running: Ledger, fault: str
) -> None:
    if fault == "flushed":
        deployment.keystore.flush()
    else:
        deployment.keystore.stop()
        deployment.keystore.start()
    time.sleep(1)
    assert running.statuses("account") == {200}
    assert running.statuses("revoked") == {401}
    assert running.statuses("write") <= {201, 503}
    assert running.statuses("health") == {200}


def test_killed_web_worker_loses_only_its_current_requests(
    deployment: Deployment, running: Ledger
) -> None:
    os.kill(deployment.server.workers()[0], signal.SIGKILL)
    wait_for_recovery(running, "account")
    # Only the requests that the killed worker was handling get no response.
    for kind, right in (("account", 200), ("write", 201), ("health", 200)):
        assert running.statuses(kind) <= {right, NO_RESPONSE}


def test_exhausted_connection_pool_causes_only_503(cluster: Cluster, folder: Path) -> None:
    database_proxy = TcpProxy("127.0.0.1", cluster.port)
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": cluster.url.replace(str(cluster.port), str(database_proxy.port)),
        "CORE__DATABASE_POOL_SIZE": "1",
    }
    with gunicorn_server(settings, folder / "pool.log") as server:
        active = Client(server.port).sign_in("active@example.com", PASSWORD)
        database_proxy.delay = 1.5
        with traffic(server.port, active, Client(server.port, "a.b.c")) as ledger:
            time.sleep(4)
            database_proxy.speak()
            wait_for_recovery(ledger, "account")
            wait_for_recovery(ledger, "write")
        assert ledger.statuses("account") <= {200, 503}
        assert ledger.statuses("write") <= {201, 503}
        assert ledger.statuses("health") == {200}
        assert ledger.slowest("account") < RESPONSE_SECONDS
        assert ledger.slowest("write") < RESPONSE_SECONDS
        assert set(ledger.acknowledged) <= stored_titles(server.port)
    database_proxy.cut()
