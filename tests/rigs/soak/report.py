"""The result of a run in Markdown, with a description of the machine."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg

from ..traffic import NO_RESPONSE
from .checks import Check
from .ledger import Entry, Kill, Ledger


def render(ledger: Ledger, checks: Sequence[Check], versions: str) -> str:
    return "\n".join([versions, "", *_kills(ledger), "", *_requests(ledger), "", *_checks(checks)])


def describe(connection: psycopg.Connection, minutes: float) -> str:
    """Describe the run, the machine and the versions of its programs."""
    [(postgres,)] = connection.execute("SHOW server_version").fetchall()
    memory = next(
        int(line.split()[1]) / 2**20
        for line in Path("/proc/meminfo").read_text().splitlines()
        if line.startswith("MemTotal")
    )
    redis = subprocess.check_output(["redis-server", "--version"], text=True)
    nginx = subprocess.run(["nginx", "-v"], capture_output=True, check=True, text=True).stderr
    return (
        f"{minutes:g} minutes on {time.strftime('%d %B %Y')}, {os.cpu_count()} cores,"
        f" {memory:.0f} GiB of memory, Python {platform.python_version()},"
        f" PostgreSQL {postgres.split()[0]}, Redis {redis.split('v=')[1].split()[0]},"
        f" nginx {nginx.split('/')[1].split()[0]}, load of the machine"
        f" {os.getloadavg()[0]:.1f} at the end."
    )


def _kills(ledger: Ledger) -> Iterator[str]:
    yield "| killed | back after | 503 | no response | kill to last failure | slowest request |"
    yield "|---|---|---|---|---|---|"
    ends = [*(kill.at for kill in ledger.kills[1:]), float("inf")]
    for kill, end in zip(ledger.kills, ends, strict=True):
        yield _kill(ledger, kill, end)


def _kill(ledger: Ledger, kill: Kill, end: float) -> str:
    failures = ledger.failures(kill.at, end)
    unanswered = sum(1 for entry in failures if entry.status == NO_RESPONSE)
    last = max((entry.at + entry.seconds - kill.at for entry in failures), default=0.0)
    slowest = max(
        (
            entry.seconds
            for entry in ledger.entries
            if kill.at <= entry.at + entry.seconds and entry.at < end
        ),
        default=0.0,
    )
    cells = (kill.part, f"{kill.until - kill.at:.1f} s", _with_codes(failures),
             str(unanswered), f"{last:.1f} s", f"{slowest:.1f} s")  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _with_codes(failures: Sequence[Entry]) -> str:
    """Return the number of responses with 503, with their error codes."""
    codes = Counter(entry.code for entry in failures if entry.status == 503)
    names = ", ".join(sorted(codes))
    return f"{codes.total()} ({names})" if codes else "0"


def _requests(ledger: Ledger) -> Iterator[str]:
    yield "| request | sent | succeeded or refused as expected | 503 | no response | median |"
    yield "|---|---|---|---|---|---|"
    kinds = Counter(entry.kind for entry in ledger.entries)
    for kind, count in kinds.most_common():
        statuses = ledger.statuses(kind)
        median = statistics.median(e.seconds for e in ledger.entries if e.kind == kind)
        good = count - statuses[503] - statuses[0]
        cells = (kind, f"{count:,}", f"{good:,}", str(statuses[503]), str(statuses[0]),
                 f"{median * 1000:.0f} ms")  # fmt: skip
        yield f"| {' | '.join(cells)} |"


def _checks(checks: Sequence[Check]) -> Iterator[str]:
    yield "| check | result | |"
    yield "|---|---|---|"
    for check in checks:
        yield f"| {check.title} | {check.found} | {'passed' if check.passed else '**failed**'} |"
