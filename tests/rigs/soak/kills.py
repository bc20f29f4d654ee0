"""Kills each part of the deployment once, and starts it again as its supervisor would."""

from __future__ import annotations

import time
from collections.abc import Callable

from .deployment import RECEIVERS, Deployment
from .ledger import Kill
from .processes import Program
from .visitors import Visitors

# A supervisor notices the end of a program and starts it again.
SUPERVISOR_SECONDS = 1.0
# A failover manager notices the loss of the primary.
FAILOVER_SECONDS = 3.0
# A worker is killed after this number of emails of a broadcast, or after this time.
EMAILS_BEFORE_KILL = 10
WAIT_SECONDS = 30


def kills(deployed: Deployment, visitors: Visitors) -> dict[str, Callable[[], None]]:
    """Return a function for each part that kills it, and returns when all parts are there again."""
    first, second = deployed.web
    workers = deployed.workers
    return {
        "worker 1": lambda: _kill_busy_worker(deployed, visitors, workers[0]),
        "application server 1": lambda: _restart(first),
        "Redis master": lambda: _kill_redis(deployed, master=True),
        "PostgreSQL replica": lambda: _kill_replica(deployed),
        "RabbitMQ": lambda: _restart(deployed.rabbitmq),
        "nginx": lambda: _restart(deployed.nginx),
        "PostgreSQL primary": lambda: _kill_primary(deployed),
        "sentinel": lambda: _kill_sentinel(deployed),
        "worker 2": lambda: _kill_busy_worker(deployed, visitors, workers[1]),
        "application server 2": lambda: _restart(second),
        "Redis replica": lambda: _kill_redis(deployed, master=False),
    }


def kill_all(
    parts: dict[str, Callable[[], None]],
    visitors: Visitors,
    seconds: float,
    report: Callable[[str], None],
) -> None:
    """Kill the parts one by one, at even distances in this time."""
    begin = time.monotonic()
    pause = seconds / (len(parts) + 1)
    for number, (name, kill) in enumerate(parts.items(), 1):
        time.sleep(max(0.0, begin + number * pause - time.monotonic()))
        at = time.monotonic()
        kill()
        visitors.ledger.kills.append(Kill(name, at, time.monotonic()))
        report(f"{at - begin:.0f} s: killed {name}, back after {time.monotonic() - at:.1f} s")
    time.sleep(max(0.0, begin + seconds - time.monotonic()))


def _restart(program: Program) -> None:
    program.kill()
    time.sleep(SUPERVISOR_SECONDS)
    program.restart()


def _kill_busy_worker(deployed: Deployment, visitors: Visitors, worker: Program) -> None:
    """Kill a worker while both workers send a broadcast to all accounts."""
    sent = len(deployed.sink.received)
    visitors.broadcast(RECEIVERS)
    until = time.monotonic() + WAIT_SECONDS
    while len(deployed.sink.received) < sent + EMAILS_BEFORE_KILL and time.monotonic() < until:
        time.sleep(0.01)
    _restart(worker)


def _kill_redis(deployed: Deployment, *, master: bool) -> None:
    group = deployed.redis
    port = deployed.kill_redis(master=master)
    if master:
        group.wait_until(lambda: bool(found := group.primaries()) and port not in found)
    else:
        time.sleep(SUPERVISOR_SECONDS)
    group.rejoin(port)
    group.wait_until(group.is_complete)


def _kill_sentinel(deployed: Deployment) -> None:
    group = deployed.redis
    port = group.sentinels[0]
    group.kill(port)
    time.sleep(SUPERVISOR_SECONDS)
    group.start_sentinel(port)
    group.wait_until(group.is_complete)


def _kill_replica(deployed: Deployment) -> None:
    """Commits wait until the replica is back."""
    deployed.replica.kill()
    time.sleep(SUPERVISOR_SECONDS)
    deployed.replica.start()
    deployed.primary.wait_for_standby(True)


def _kill_primary(deployed: Deployment) -> None:
    deployed.primary.kill()
    time.sleep(FAILOVER_SECONDS)
    deployed.promote_replica()
    deployed.rebuild_replica()
