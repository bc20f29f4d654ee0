"""`python -m bench`: all benchmarks, or those named with `--only`."""

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path

from bench import database
from bench.figures import Table
from bench.options import Options
from bench.places import RESULTS
from bench.servers import CONTENDERS
from bench.works import (
    account,
    administration,
    broadcast,
    capacity,
    console,
    growth,
    inbox,
    login,
    mails,
    mark_all,
    mixed,
    personal_tokens,
    registration,
    sessions,
    signing_keys,
    slow,
    start,
)

WORKS: dict[str, Callable[[Options], list[Table]]] = {
    "account": account.measure,
    "inbox": inbox.measure,
    "login": login.measure,
    "broadcast": broadcast.measure,
    "mark-all": mark_all.measure,
    "mails": mails.measure,
    "registration": registration.measure,
    "sessions": sessions.measure,
    "personal-tokens": personal_tokens.measure,
    "signing-keys": signing_keys.measure,
    "start": start.measure,
    "growth": growth.measure,
    "administration": administration.measure,
    "console": console.measure,
    "mixed": mixed.measure,
    "slow": slow.measure,
}
# Only with `--only`: the large amounts take half an hour and 10 GB.
SELECTED_ONLY = {"capacity": capacity.measure}


def main() -> None:
    arguments = _arguments()
    if arguments.clean:
        database.drop_all()
        return
    options = Options(
        seconds=arguments.seconds or (1.0 if arguments.quick else 3.0),
        rounds=arguments.rounds or (2 if arguments.quick else 5),
        minutes=arguments.minutes or (0.5 if arguments.quick else 10.0),
        quick=arguments.quick,
        ten_million=arguments.ten_million,
        peers=tuple(arguments.peers or ()),
    )
    begin = time.monotonic()
    report = [f"## {_machine()}", ""]
    for name in arguments.only or WORKS:
        for table in (WORKS | SELECTED_ONLY)[name](options):
            report += table.lines()
            print("\n" + "\n".join(table.lines()), flush=True)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{time.strftime('%Y-%m-%d-%H%M%S')}.md"
    path.write_text("\n".join(report))
    print(f"{time.monotonic() - begin:.0f} seconds; kept as {path.relative_to(Path.cwd())}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=WORKS | SELECTED_ONLY, help="this work (repeatable)"
    )
    parser.add_argument(
        "--peers", action="append", choices=CONTENDERS, help="this contender (repeatable)"
    )
    parser.add_argument("--quick", action="store_true", help="short turns and small amounts")
    parser.add_argument("--seconds", type=float, help="length of one timed turn")
    parser.add_argument("--rounds", type=int, help="turns of each contender")
    parser.add_argument("--minutes", type=float, help="length of the mixed load")
    parser.add_argument(
        "--ten-million",
        action="store_true",
        help="growth up to 10 million inbox rows, capacity up to 10 million accounts",
    )
    parser.add_argument("--clean", action="store_true", help="only drop the bench's databases")
    return parser.parse_args()


def _machine() -> str:
    cpus = [
        line.partition(": ")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    load = Path("/proc/loadavg").read_text().split()[0]
    model = cpus[0] if cpus else platform.machine()
    python = platform.python_version()
    return f"{len(cpus)} processors ({model}), Python {python}, load {load} at the start"


if __name__ == "__main__":
    main()
