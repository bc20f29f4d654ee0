"""A virtual environment for each peer, created on the first run and again after its pins change."""

import hashlib
import subprocess
import sys
from pathlib import Path

from bench.places import BENCH, VENVS


def python(peer: str) -> Path:
    """Return the Python of the peer's environment."""
    home = VENVS / peer
    requirements = BENCH / "peers" / peer / "requirements.txt"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    stamp = home / "requirements.sha256"
    interpreter = home / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {peer}", flush=True)
        _run([sys.executable, "-m", "venv", "--clear", str(home)])
        pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, "-r", str(requirements)])
        stamp.write_text(wanted)
    return interpreter


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, timeout=600, stderr=subprocess.DEVNULL)
