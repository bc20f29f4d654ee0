"""npm packages that tests and examples use: each folder with a package.json.

`python -m tests.rigs.npm` installs all packages; otherwise a test installs what it needs.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path


class CannotRun(Exception):
    """A program or package is missing on this machine; the message names it."""


def install(folder: Path) -> None:
    """Install the npm packages once; parallel test runs wait for the first of them."""
    wanted = (folder / "package-lock.json").read_text()
    installed = folder / "node_modules" / ".installed-from"
    with (folder / "package-lock.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if installed.exists() and installed.read_text() == wanted:
            return
        result = subprocess.run(
            [tool("npm"), "ci"], cwd=folder, capture_output=True, text=True, timeout=600
        )
        if result.returncode:
            raise CannotRun(f"npm could not install {folder.name}:\n{result.stderr[-2000:]}")
        installed.write_text(wanted)


def tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise CannotRun(f"{name} is not installed")
    return path


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    places = ("tests/rigs/**/package-lock.json", "examples/*/package-lock.json")
    for lock in sorted(lock for place in places for lock in root.glob(place)):
        if "node_modules" not in lock.parts:
            install(lock.parent)
