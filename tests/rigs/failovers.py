"""Failovers of Redis while clients use the service: what they see, and what the limits still hold.

`python -m tests.rigs.failovers sentinel --rounds 100` prints the figures of docs/scale.md. Each
fifth failover follows a server that is silent, all others a server that is killed.
"""

from __future__ import annotations

import argparse
import itertools
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..conftest import SECRET
from .backends import postgres_database
from .redis_groups import RedisGroup, redis_cluster, sentinel_group
from .servers import gunicorn_server
from .traffic import Client, Ledger, migrate_with_accounts, sign_in_clients, traffic

# The failed sign-ins that AUTH__LOGIN_LIMIT allows for one account from one IP address.
ALLOWED_GUESSES = 5
# Two seconds, and half a second for a busy machine.
RECOVERY_SECONDS = 2.5
EXPECTED = {
    "account": {200},
    "revoked": {401},
    "health": {200},
    "write": {201, 503},
    "guess": {400, 429, 503},
}
GROUPS: dict[str, Callable[[Path], AbstractContextManager[RedisGroup]]] = {
    "sentinel": sentinel_group,
    "cluster": redis_cluster,
}


@dataclass
class FailingService:
    """The service under gunicorn with two workers, and its Redis servers."""

    port: int
    group: RedisGroup
    active: Client
    revoked: Client
    accounts: Iterator[int] = field(default_factory=itertools.count)


@dataclass
class Failover:
    statuses: dict[str, Counter[int]]
    # Seconds from the fault to the promotion, and from the promotion to the last 503.
    promotion: float
    recovery: float
    # Responses that reject the guess of a client.
    guesses: int
    slowest: float

    def problems(self) -> list[str]:
        found = [
            f"{kind} returned {sorted(set(counts) - EXPECTED[kind])}"
            for kind, counts in self.statuses.items()
            if not set(counts) <= EXPECTED[kind]
        ]
        if self.recovery > RECOVERY_SECONDS:
            found.append(f"503 until {self.recovery:.2f} s after the promotion")
        if self.guesses > 2 * ALLOWED_GUESSES:
            found.append(f"{self.guesses} guesses of one password")
        return found


@contextmanager
def failing_service(kind: str, folder: Path, database_url: str) -> Iterator[FailingService]:
    migrate_with_accounts(database_url)
    with GROUPS[kind](folder) as group:
        settings = {
            "SECRET_KEY": SECRET,
            "CORE__DATABASE_URL": database_url,
            "CORE__REDIS_URL": group.url,
            "AUTH__BCRYPT_ROUNDS": "4",
            "AUTH__LOGIN_LIMIT": f"{ALLOWED_GUESSES} per hour",
            # The traffic comes from one IP address.
            "AUTH__LOGIN_ADDRESS_LIMIT": "1000000 per minute",
            "TASKS__CREATE_LIMIT": "1000000 per minute",
            "WEB_CONCURRENCY": "2",
        }
        with gunicorn_server(settings, folder / "log") as server:
            yield FailingService(server.port, group, *sign_in_clients(server.port))


def fail_over(deployed: FailingService, number: int, *, silent: bool) -> Failover:
    """Stop a primary under load, wait until another is promoted, and bring the server back."""
    group = deployed.group
    primaries = group.primaries()
    victim = primaries[number % len(primaries)]
    form = {"username": f"guess-{next(deployed.accounts)}@example.com", "password": "wrong"}
    client = Client(deployed.port)
    with traffic(
        deployed.port,
        deployed.active,
        deployed.revoked,
        guess=lambda: client.ask("POST", "/login", form=form)[0],
    ) as ledger:
        time.sleep(0.5)
        fault = time.monotonic()
        if silent:
            group.send(victim, signal.SIGSTOP)
        else:
            group.kill(victim)
        promoted = group.wait_until(
            lambda: len(found := group.primaries()) == len(primaries) and victim not in found
        )
        time.sleep(RECOVERY_SECONDS + 0.5)
    if silent:
        group.send(victim, signal.SIGCONT)
    else:
        group.rejoin(victim)
    return _result(ledger, fault, promoted)


def _result(ledger: Ledger, fault: float, promoted: float) -> Failover:
    statuses: dict[str, Counter[int]] = {}
    for entry in ledger.entries:
        statuses.setdefault(entry.kind, Counter())[entry.status] += 1
    refused = [entry.at + entry.seconds for entry in ledger.entries if entry.status == 503]
    return Failover(
        statuses,
        promotion=promoted - fault,
        recovery=max(0.0, max(refused, default=0.0) - promoted),
        guesses=statuses["guess"][400],
        slowest=max(entry.seconds for entry in ledger.entries),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=GROUPS)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    results: list[Failover] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres_database(f"frontdesk_test_failovers_{options.kind}") as url,
        failing_service(options.kind, Path(folder), url) as deployed,
    ):
        for number in range(options.rounds):
            result = fail_over(deployed, number, silent=number % 5 == 4)
            results.append(result)
            for problem in result.problems():
                print(f"{number}: {problem}", flush=True)
            began = time.monotonic()
            deployed.group.wait_until(deployed.group.is_complete)
            print(
                f"{number}: promoted after {result.promotion:.2f} s, last 503 {result.recovery:.2f}"
                f" s later, {result.guesses} guesses, slowest {result.slowest:.2f} s, complete"
                f" {time.monotonic() - began:.1f} s later",
                flush=True,
            )
        print("Unhandled errors:", (Path(folder) / "log").read_text().count("Unhandled"))
    _report(results)


def _report(results: list[Failover]) -> None:
    totals: dict[str, Counter[int]] = {}
    for result in results:
        for kind, counts in result.statuses.items():
            totals.setdefault(kind, Counter()).update(counts)
    for kind, counts in totals.items():
        print(f"{kind}: {dict(counts)}")
    for name in ("promotion", "recovery", "guesses", "slowest"):
        values = [getattr(result, name) for result in results]
        print(f"{name}: median {statistics.median(values):.2f}, most {max(values):.2f}")
    print("problems:", sum(1 for result in results if result.problems()))


if __name__ == "__main__":
    main()
