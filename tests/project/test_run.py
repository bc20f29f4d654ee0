"""`make run` on a fresh copy of the repository."""

from __future__ import annotations

import hashlib
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from typing import Any

import pytest
import requests

from ..rigs.backends import free_port, wait_for_port
from ..rigs.servers import ROOT, bare_environment

# Files that a clone does not have.
NOT_COPIED = shutil.ignore_patterns(
    *(".git", ".venv*", ".env", "instance", "dist", "build", "node_modules", ".results"),
    *("__pycache__", ".*_cache", ".hypothesis"),
)


@pytest.fixture(scope="module")
def filled_venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment that the first run would create, with the packages of the tests'
    environment."""
    home = tmp_path_factory.mktemp("filled") / ".venv"
    venv.create(home, symlinks=True, with_pip=False)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "lent.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    mark = hashlib.sha256((ROOT / "requirements.txt").read_bytes()).hexdigest()
    (home / ".requirements.txt.sha256").write_text(mark)
    return home


@pytest.fixture
def clone(tmp_path: Path, filled_venv: Path) -> Path:
    folder = tmp_path / "clone"
    shutil.copytree(ROOT, folder, ignore=NOT_COPIED)
    (folder / ".venv").symlink_to(filled_venv)
    return folder


def make_run(clone: Path, port: int | str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["make", "run", f"PYTHON={sys.executable}", f"PORT={port}"],
        cwd=clone,
        env=bare_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@contextmanager
def running(clone: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the URL, and a list to which the output is added when the server has stopped."""
    port, printed = free_port(), list[str]()
    process = make_run(clone, port)
    try:
        wait_for_port(port, 60)
        yield f"http://127.0.0.1:{port}/api/v1", printed
    finally:
        process.terminate()
        printed.append(process.communicate(timeout=30)[0])


def failed_output(clone: Path, port: int | str) -> str:
    """Return the output of a `make run` that stops at once, without make's line."""
    process = make_run(clone, port)
    try:
        output = process.communicate(timeout=60)[0].splitlines()
    finally:
        process.terminate()
    assert output[-1].startswith("make: ***")
    return "\n".join(output[:-1])


def sign_in(api: str, clone: Path) -> int:
    dotenv = dict(line.split("=", 1) for line in _settings_in(clone))
    form = {"username": dotenv["FIRST_SUPERUSER"], "password": dotenv["FIRST_SUPERUSER_PASSWORD"]}
    return requests.post(f"{api}/login", data=form, timeout=10).status_code


def _settings_in(clone: Path) -> list[str]:
    return [line for line in (clone / ".env").read_text().splitlines() if "=" in line]


def test_first_run_sets_everything_up_and_the_next_one_keeps_it(clone: Path) -> None:
    with running(clone) as (api, first):
        assert requests.get(f"{api}/health/ready", timeout=10).status_code == 200
        assert sign_in(api, clone) == 200
        task: dict[str, Any] = {"title": "Water the plants"}
        assert requests.post(f"{api}/tasks/", json=task, timeout=10).status_code == 201
    dotenv = (clone / ".env").read_text()
    password = re.search("FIRST_SUPERUSER_PASSWORD=(.*)", dotenv)
    assert password is not None
    assert password[1] in first[0]
    # One name in all URLs: a browser treats another one as another site.
    assert f"{api}/docs".replace("127.0.0.1", "localhost") in first[0]
    assert "127.0.0.1" not in first[0].partition("is running")[2].partition("Stop")[0]
    assert S_IMODE((clone / ".env").stat().st_mode) == 0o600

    start = time.monotonic()
    with running(clone) as (api, second):
        assert time.monotonic() - start < 30
        assert requests.get(f"{api}/tasks/", timeout=10).json()[0]["title"] == "Water the plants"
        assert sign_in(api, clone) == 200
    assert (clone / ".env").read_text() == dotenv
    assert password[1] not in second[0]
    for printed in (*first, *second):
        assert "Traceback" not in printed
        assert re.search(r"SECRET_KEY=(\w+)", dotenv)[1] not in printed  # type: ignore[index]


def test_stopped_server_frees_its_port(clone: Path) -> None:
    with running(clone) as (api, _):
        port = int(api.split(":")[2].partition("/")[0])
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))


def test_used_port_is_reported_before_anything_is_created(clone: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert failed_output(clone, port).startswith(
            f"Port {port} is in use. Stop the program that uses it"
        )
    assert not (clone / ".env").exists()


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1", "٣"])
def test_invalid_port_is_reported(clone: Path, port: str) -> None:
    assert failed_output(clone, port).startswith("PORT must be a number from 1 to 65535")


@pytest.mark.parametrize(
    ("dotenv", "sentence"),
    [
        (b"no equals sign\n", ".env, line 1: expected NAME=value."),
        (b"\xff\xfe", ".env is not a text file in UTF-8."),
        (b"CORE__TYPO=1\n", "Invalid settings: CORE__TYPO: unknown setting"),
    ],
)
def test_malformed_dotenv_is_reported_in_one_sentence(
    clone: Path, dotenv: bytes, sentence: str
) -> None:
    (clone / ".env").write_bytes(dotenv)
    output = failed_output(clone, free_port())
    assert output == sentence


def test_unwritable_folder_is_reported_in_one_sentence(clone: Path) -> None:
    # A file takes the folder's place, because root can write to every folder.
    (clone / "instance").write_text("")
    output = failed_output(clone, free_port())
    assert output == f"Cannot write {clone}/instance: File exists."


def test_unreachable_database_is_reported_in_one_sentence(clone: Path) -> None:
    port = free_port()
    (clone / ".env").write_text(
        f"SECRET_KEY={'x' * 32}\nCORE__DATABASE_URL=postgresql://user@127.0.0.1:{port}/none\n"
    )
    output = failed_output(clone, free_port())
    assert "The database cannot be used: " in output
    assert "Traceback" not in output


# Tests with a session fixture, a subprocess and a request.
SAMPLE_TESTS = (
    "tests/server/test_start.py::test_flask_run_logs_each_warning_once",
    "tests/server/test_start.py::test_first_response_imports_no_heavy_library",
    "tests/tasks/test_tasks.py",
)


def test_tests_ignore_settings_and_data_of_the_checkout(clone: Path) -> None:
    """A process that reads this `.env` stops, and no process can create `instance/`."""
    (clone / ".env").write_text("CORE__NO_SUCH_SETTING=1\n")
    (clone / "instance").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", "not postgresql", *SAMPLE_TESTS],
        cwd=clone,
        env=bare_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_help_names_every_command() -> None:
    output = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in (
        "run",
        "test",
        "sure",
        "lint",
        "types",
        "bench",
        "format",
        "wheel",
        "docs",
        "help",
    ):
        assert f"make {name} " in output
