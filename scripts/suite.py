"""`make test`: the whole suite, in three rounds; with arguments, pytest with these.

First come the tests that keep a core busy, one more side by side than there are cores, since each
waits for something now and then; then those that kill servers and wait for them, three times as
many as there are cores; at last, one by one, those that need the machine for themselves.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests import rounds

CORES = os.cpu_count() or 1
# A file at a time, in the order of tests/rounds.py: a core that is done takes the next file.
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")
BUSY = ("-m", "not waiting and not alone", "-n", str(CORES + 1), *BY_FILE)
# By their names, since collecting the whole suite takes its time in every process.
WAITING = (*rounds.WAITING, "-n", str(3 * CORES), *BY_FILE)
ALONE = rounds.ALONE


def main() -> int:
    if len(sys.argv) > 1:
        return pytest(*sys.argv[1:])
    codes = [pytest(*BUSY), pytest(*WAITING), pytest(*ALONE)]
    return max(codes)


def pytest(*arguments: str) -> int:
    # Each round, and each process of it, would compile the same thousand files anew.
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
