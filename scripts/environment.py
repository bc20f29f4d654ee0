"""The virtual environment in `.venv`, with the pinned packages in it.

Runs on the bare Python of a fresh machine, so it imports nothing but the standard library.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
OLDEST = (3, 11)


def ensure(*requirements: str) -> Path:
    """The environment's Python, after making and filling the environment where that is needed."""
    if sys.version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        stop(f"Frontdesk needs Python {wanted} or newer, and this is {sys.version.split()[0]}.")
    python = VENV / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not _answers(python):
        _make(python)
    stale = {name: mark for name in requirements if _stamp(name) != (mark := _fingerprint(name))}
    if stale:
        _install(python, [ROOT / name for name in requirements])
        for name, mark in stale.items():
            _stamp_file(name).write_text(mark)
    return python


def become(python: Path, module: str, *arguments: str) -> NoReturn:
    """Replace this process with the module in that Python, so that there is one process to stop."""
    os.chdir(ROOT)
    os.execv(python, [str(python), "-m", module, *arguments])  # noqa: S606


def stop(sentence: str) -> NoReturn:
    sys.exit(sentence)


def _make(python: Path) -> None:
    print("Making the environment in .venv …", flush=True)
    made = _quietly(sys.executable, "-m", "venv", "--clear", str(VENV))
    if made.returncode == 0 and _answers(python):
        return
    if "ensurepip" in made.stdout:
        stop(
            "This Python cannot make virtual environments; on Debian and Ubuntu, install the"
            " package python3-venv and try again."
        )
    stop(f"The environment could not be made in {VENV}: {_last_line(made.stdout)}")


def _install(python: Path, files: list[Path]) -> None:
    print("Installing the pinned packages …", flush=True)
    wanted = ["--require-hashes", *(part for file in files for part in ("-r", str(file)))]
    if _install_with_uv(python, wanted):
        return
    done = _quietly(*_pip_install(python), *wanted)
    if done.returncode:
        stop(f"{done.stdout}\nThe packages could not be installed; pip's reason stands above.")


def _install_with_uv(python: Path, wanted: list[str]) -> bool:
    """Return False where uv is unavailable or fails: pip then installs, or reports why it cannot.

    pip needs eight times the processor time. uv does not read pip's configuration, so pip installs
    where that configuration replaces the index.
    """
    configured = _quietly(str(python), "-m", "pip", "config", "list").stdout
    pins = (ROOT / "requirements-dev.txt").read_text()
    pin = re.search(r"^uv==(.*\\\n)*.*\n", pins, re.MULTILINE)
    if pin is None or re.search(r"^[\w:]+\.(index-url|no-index)=", configured, re.MULTILINE):
        return False
    file = VENV / "uv.txt"
    file.write_text(pin[0])
    command = [*_pip_install(python), "--require-hashes", "--only-binary=:all:", "-r", str(file)]
    if _quietly(*command).returncode:
        return False
    uv = [str(python), "-m", "uv", "pip", "install", "--quiet", "--python", str(python)]
    return _quietly(*uv, *wanted).returncode == 0


def _pip_install(python: Path) -> list[str]:
    return [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def _answers(python: Path) -> bool:
    """A venv outlives the Python it was made with, and an interrupted one has no pip."""
    return python.is_file() and _quietly(str(python), "-c", "import pip").returncode == 0


def _stamp_file(name: str) -> Path:
    return VENV / f".{name}.sha256"


def _stamp(name: str) -> str | None:
    """What the file said when it was last installed."""
    file = _stamp_file(name)
    return file.read_text() if file.is_file() else None


def _fingerprint(name: str) -> str:
    return hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


def _quietly(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    except OSError as error:
        return subprocess.CompletedProcess(command, 1, stdout=str(error))


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1]
