"""The virtual environment in `.venv` with the pinned packages.

Runs on Python without packages, so it imports only the standard library.
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
    """Return the environment's Python, and create or update the environment first if needed."""
    if sys.version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        stop(f"Frontdesk needs Python {wanted} or newer, and this is {sys.version.split()[0]}.")
    python = VENV / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not _works(python):
        _create(python)
    stale = {name: mark for name in requirements if _stamp(name) != (mark := _fingerprint(name))}
    if stale:
        _install(python, [ROOT / name for name in requirements])
        for name, mark in stale.items():
            _stamp_file(name).write_text(mark)
    return python


def become(python: Path, module: str, *arguments: str) -> NoReturn:
    """Replace this process with the module in that Python, so that one process has to be
    stopped."""
    os.chdir(ROOT)
    os.execv(python, [str(python), "-m", module, *arguments])  # noqa: S606


def stop(sentence: str) -> NoReturn:
    sys.exit(sentence)


def _create(python: Path) -> None:
    print("Creating the environment in .venv …", flush=True)
    made = _quiet(sys.executable, "-m", "venv", "--clear", str(VENV))
    if made.returncode == 0 and _works(python):
        return
    if "ensurepip" in made.stdout:
        stop(
            "This Python cannot create virtual environments; on Debian and Ubuntu, install the"
            " package python3-venv and try again."
        )
    stop(f"The environment could not be created in {VENV}: {_last_line(made.stdout)}")


def _install(python: Path, files: list[Path]) -> None:
    print("Installing the pinned packages …", flush=True)
    wanted = ["--require-hashes", *(part for file in files for part in ("-r", str(file)))]
    if _install_with_uv(python, wanted):
        return
    done = _quiet(*_pip_install(python), *wanted)
    if done.returncode:
        stop(f"{done.stdout}\nThe packages could not be installed; see pip's message above.")


def _install_with_uv(python: Path, wanted: list[str]) -> bool:
    """Install with uv. Return False if uv is unavailable or fails: pip then installs or reports the
    error.

    pip needs eight times the processor time. uv does not read pip's configuration, so pip installs
    if that configuration replaces the index.
    """
    configured = _quiet(str(python), "-m", "pip", "config", "list").stdout
    pins = (ROOT / "requirements-dev.txt").read_text()
    pin = re.search(r"^uv==(.*\\\n)*.*\n", pins, re.MULTILINE)
    if pin is None or re.search(r"^[\w:]+\.(index-url|no-index)=", configured, re.MULTILINE):
        return False
    file = VENV / "uv.txt"
    file.write_text(pin[0])
    command = [*_pip_install(python), "--require-hashes", "--only-binary=:all:", "-r", str(file)]
    if _quiet(*command).returncode:
        return False
    uv = [str(python), "-m", "uv", "pip", "install", "--quiet", "--python", str(python)]
    return _quiet(*uv, *wanted).returncode == 0


def _pip_install(python: Path) -> list[str]:
    return [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def _works(python: Path) -> bool:
    """Return whether the environment works: its Python may be gone, or its creation was
    interrupted."""
    return python.is_file() and _quiet(str(python), "-c", "import pip").returncode == 0


def _stamp_file(name: str) -> Path:
    return VENV / f".{name}.sha256"


def _stamp(name: str) -> str | None:
    """Return the fingerprint of the file at its last installation."""
    file = _stamp_file(name)
    return file.read_text() if file.is_file() else None


def _fingerprint(name: str) -> str:
    return hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


def _quiet(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    except OSError as error:
        return subprocess.CompletedProcess(command, 1, stdout=str(error))


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1]
