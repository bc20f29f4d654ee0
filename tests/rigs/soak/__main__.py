"""`make soak`: a deployment on this machine, with each part killed once under mixed load.

Starts nginx, two application servers, PostgreSQL primary and replica, three Redis servers with
three sentinels, RabbitMQ and two Celery workers, all on loopback addresses and in a temporary
folder, and stops them at the end. The exit code is 1 if a check fails.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from . import checks, report
from .checks import Check, Stored
from .deployment import Deployment, deployment
from .kills import kill_all, kills
from .visitors import Visitors

SIGNED_IN = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--kill", action="append", help="kill only this part (repeatable)")
    options = parser.parse_args()
    # The processes are stopped on SIGTERM too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="frontdesk-soak-") as folder:
        found, text = soak(Path(folder), options.minutes, options.kill)
    print(text)
    return 0 if all(check.passed for check in found) else 1


def soak(
    folder: Path, minutes: float, parts: Sequence[str] | None = None
) -> tuple[list[Check], str]:
    """Run the load and the kills; return the checks and the report."""
    with deployment(folder) as deployed:
        visitors = Visitors(deployed.nginx.port, deployed.receivers())
        visitors.sign_in_all(SIGNED_IN)
        selected = {
            name: kill
            for name, kill in kills(deployed, visitors).items()
            if parts is None or name in parts
        }
        with visitors.running():
            kill_all(selected, visitors, minutes * 60, _progress)
        with deployed.connect() as connection:
            stored = _collect(deployed, visitors, folder)
            found = checks.all_checks(visitors.ledger, stored)
            return found, report.render(
                visitors.ledger, found, report.describe(connection, minutes)
            )


def _collect(deployed: Deployment, visitors: Visitors, folder: Path) -> Stored:
    with deployed.connect() as connection:
        pending = checks.wait_for_deliveries(connection)
        stored = checks.read_stored(connection)
    stored.pending = pending
    stored.emails = [(str(mail.message["Subject"]), mail.to) for mail in deployed.sink.received]
    stored.revoked = Counter(visitors.read_with_all_revoked_tokens())
    logs = [*folder.glob("web*/log"), *folder.glob("worker*/log")]
    stored.unhandled = sum(log.read_text(errors="replace").count("Unhandled") for log in logs)
    return stored


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
