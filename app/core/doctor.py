"""What the checks of the doctor need: `flask frontdesk doctor` and the console's overview run them.

A feature has its checks in a module `doctor.py` and contributes its name (`DoctorChecks`).
"""

import shlex
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Literal, NamedTuple

from .process.folders import is_exposed

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Finding(NamedTuple):
    check: str
    level: Literal["fault", "warning"]
    message: str


class Check(NamedTuple):
    find: Callable[[], Iterator[Finding]]
    # A check without needs is fast, so that the console can run it for a page.
    needs: Literal["nothing", "database", "servers"] = "nothing"


def find_exposed_folder(folder: Path) -> Iterator[Finding]:
    """Find a folder that an earlier version, or another program, created readable for other
    users."""
    if is_exposed(folder):
        yield exposed(folder, f"chmod -R go= {shlex.quote(str(folder))}")


def exposed(path: Path, command: str) -> Finding:
    text = f"Other users of this machine can read {path}. Run `{command}`."
    return Finding("private_files", "warning", text)


def run_within(seconds: float, task: Callable[[], object]) -> None:
    """Run a task in a thread, and raise its exception, or TimeoutError.

    The libraries' timeouts are for one step each, or do not cover the name server.
    """
    done: Future[None] = Future()

    def run() -> None:
        try:
            task()
            done.set_result(None)
        except Exception as error:
            done.set_exception(error)

    Thread(target=run, name="frontdesk-doctor", daemon=True).start()
    done.result(seconds)
