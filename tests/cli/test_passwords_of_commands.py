from __future__ import annotations

import fcntl
import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api

from ..auth.test_login import log_in
from ..conftest import PASSWORD, SECRET, Backend, Person
from ..rigs.servers import checkout_environment

NEW = "a password never seen before"

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def run(app: Flask, *args: str, code: int = 0, typed: str | bytes | None = None) -> Any:
    result = app.test_cli_runner().invoke(args=["accounts", *args], input=typed)
    assert result.exit_code == code, result.output
    return result


def test_a_password_that_is_not_given_is_asked_for_twice_and_not_shown(app: Flask) -> None:
    told = run(app, "create", "bob@example.com", typed=f"{PASSWORD}\n{PASSWORD}\n")
    assert told.output.count("Password") == 1
    assert PASSWORD not in told.output
    log_in(Api(app), "bob@example.com", PASSWORD)


def test_one_that_is_mistyped_is_asked_for_again(app: Flask) -> None:
    typed = f"{PASSWORD}\nsomething else\n{NEW}\n{NEW}\n"
    run(app, "create", "bob@example.com", typed=typed)
    log_in(Api(app), "bob@example.com", NEW)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_it_is_read_from_a_file_without_the_end_of_its_line(
    app: Flask, tmp_path: Path, end: str
) -> None:
    file = tmp_path / "password"
    file.write_bytes(f"{PASSWORD}{end}".encode())
    told = run(app, "create", "bob@example.com", "--password-file", str(file))
    assert json.loads(told.output)["email"] == "bob@example.com"
    log_in(Api(app), "bob@example.com", PASSWORD)


def test_it_is_read_from_standard_input(app: Flask, ada: Person) -> None:
    told = run(app, "set", ada.email, "--password-file", "-", typed=f"{NEW}\n")
    assert json.loads(told.output)["email"] == ada.email
    log_in(Api(app), ada.email, NEW)


@pytest.mark.parametrize("held", [b"", b"\n", b"one line\nand another\n", b"\xff\xfe\xff\xfe1234"])
def test_what_holds_no_password_is_refused(app: Flask, tmp_path: Path, held: bytes) -> None:
    file = tmp_path / "password"
    file.write_bytes(held)
    told = run(app, "create", "bob@example.com", "--password-file", str(file), code=2)
    assert "--password-file" in told.output
    assert run(app, "list").output == ""


def test_a_password_among_the_arguments_is_warned_of(app: Flask, ada: Person) -> None:
    for command in ("create", "bob@example.com"), ("set", ada.email):
        told = run(app, *command, "--password", NEW)
        assert "can be read by every user of this machine" in told.stderr
        assert NEW not in told.stderr
        assert len(told.stdout.splitlines()) == 1


def test_what_was_asked_for_or_read_is_not_warned_of(app: Flask, ada: Person) -> None:
    asked = run(app, "set", ada.email, "--password", typed=f"{NEW}\n{NEW}\n")
    read = run(app, "set", ada.email, "--password-file", "-", typed=NEW)
    other = run(app, "set", ada.email, "--status", "online")
    assert [told.stderr for told in (asked, read, other)] == ["", "", ""]
    log_in(Api(app), ada.email, NEW)


def test_two_places_for_one_password_are_a_mistake(app: Flask, ada: Person) -> None:
    options = ("--password", NEW, "--password-file", "-")
    assert "not both" in run(app, "set", ada.email, *options, code=2, typed=NEW).output


def test_at_a_terminal_it_is_not_shown_while_it_is_typed(backend: Backend) -> None:
    """With the program itself: that the terminal's echo is off, no other test can tell."""
    ours, theirs = pty.openpty()
    environment = {"SECRET_KEY": SECRET, "CORE__DATABASE_URL": backend.database_url}
    command = [
        sys.executable,
        "-m",
        "flask",
        "--app",
        "wsgi",
        "accounts",
        "create",
        "b@example.com",
    ]
    process = subprocess.Popen(
        command,
        env=checkout_environment(**environment),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    shown = b""
    for question in (b"Password", b"epeat"):
        while question not in shown:
            shown += os.read(ours, 1024)
        os.write(ours, f"{PASSWORD}\n".encode())
    assert process.wait(timeout=60) == 0
    shown += os.read(ours, 65536)
    os.close(ours)
    assert b"b@example.com" in shown
    assert PASSWORD.encode() not in shown
