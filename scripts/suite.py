"""`make test`: the whole suite, in three rounds; with arguments, pytest with these arguments.

The first round runs the tests that need the processor, in one process more than there are cores.
The second runs the tests that stop servers and wait, in three processes for each core. The third
runs the tests that need the machine for themselves, one by one.

Unless skips are forbidden, CI repeats tests on the second database (tests/rounds.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from tests import rounds

from .environment import VENV

CORES = os.cpu_count() or 1
EVERYTHING = os.environ.get("FRONTDESK_NO_SKIPS") == "1"
# A file at a time, in the order of tests/rounds.py: an idle process takes the next file.
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")
SELECTED = "not waiting and not alone" + ("" if EVERYTHING else " and not repetition")
# The seconds of each round in the last run on this machine.
LAST_RUN = VENV / f"suite-{'everything' if EVERYTHING else 'usual'}.json"


@dataclass(frozen=True)
class Round:
    title: str
    arguments: Sequence[str]
    # Seconds on two cores with all servers; the estimate of a first run is based on them.
    seconds: float


ROUNDS = (
    Round(
        "tests that keep the cores busy",
        ("-m", SELECTED, "-n", str(CORES + 1), *BY_FILE),
        (1165 if EVERYTHING else 820) * 2 / CORES,
    ),
    # Given by name, because each process would need time to collect the whole suite.
    Round(
        "tests that stop servers and wait for them",
        (*rounds.WAITING, "-n", str(3 * CORES), *BY_FILE),
        207,
    ),
    Round("tests that need the machine for themselves", rounds.ALONE, 66),
)


def main() -> int:
    if len(sys.argv) > 1:
        return pytest(*sys.argv[1:])
    expected = last_seconds() or [each.seconds for each in ROUNDS]
    source = "as the last run here" if LAST_RUN.exists() else "estimated for this machine"
    say(f"The suite takes about {minutes(sum(expected))}, {source}.")
    if not EVERYTHING:
        say("CI repeats more tests on PostgreSQL; FRONTDESK_NO_SKIPS=1 runs all of them here.")
    took, codes = list[float](), list[int]()
    for number, each in enumerate(ROUNDS):
        say(f"\nRound {number + 1} of {len(ROUNDS)}, {minutes(expected[number])}: {each.title}")
        began = time.monotonic()
        codes.append(pytest(*each.arguments))
        took.append(time.monotonic() - began)
    if not any(codes):
        LAST_RUN.write_text(json.dumps(took))
    return max(codes)


def last_seconds() -> list[float] | None:
    with suppress(OSError, ValueError):
        found: list[float] = json.loads(LAST_RUN.read_text())
        return found if len(found) == len(ROUNDS) else None
    return None


def minutes(seconds: float) -> str:
    whole = max(1, round(seconds / 60))
    return "a minute" if whole == 1 else f"{whole} minutes"


def say(text: str) -> None:
    print(text, flush=True)


def pytest(*arguments: str) -> int:
    # Without it, each process of each round compiles the same thousand files again.
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
