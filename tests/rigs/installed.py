"""The wheel, built and installed once for a run of the suite."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .backends import free_port, wait_for_port
from .forking_python import forking_python
from .servers import ROOT, bare_environment


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run("-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), ".", cwd=ROOT)
    (found,) = folder.glob("flask_frontdesk-*.whl")
    return found


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a Python with the wheel installed, which imports this environment's dependencies."""
    home = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(home, symlinks=True)
    program = str(home / "bin" / "python")
    purelib = run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))", python=program)
    path_file = Path(purelib.strip()) / "path_file.pth"
    path_file.write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    # Python compiles modules when it imports them, and pytest compiles differently.
    options = ("--no-deps", "--no-index", "--no-compile", "-q")
    run("-m", "pip", "--python", program, "install", *options, str(wheel))
    return program


@pytest.fixture(scope="session")
def quick_python(python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same Python for short commands."""
    with forking_python(python, tmp_path_factory.mktemp("forking")) as program:
        yield program


@contextmanager
def serve(python: str, script: str, folder: Path) -> Iterator[str]:
    """Run an example's server, a script that takes the port, and yield its URL."""
    port = free_port()
    process = subprocess.Popen(
        [python, "-c", script, str(port)],
        cwd=folder,
        env=bare_environment(SECRET_KEY="a key that only this test knows, long enough"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port, 60)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def run(
    *arguments: str, python: str = sys.executable, cwd: Path | None = None, **environment: str
) -> str:
    done = subprocess.run(
        [python, *arguments],
        cwd=cwd,
        env=bare_environment(
            PIP_DISABLE_PIP_VERSION_CHECK="1",
            SECRET_KEY="a key that only the tests of examples know",
            # As in the rest of the suite: slow password hashes would test nothing more.
            FRONTDESK_AUTH__BCRYPT_ROUNDS="4",
            **environment,
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
