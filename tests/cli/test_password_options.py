from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api

from ..auth.test_login import log_in
from ..conftest import PASSWORD, SECRET, Backend, Person
from ..rigs.servers import checkout_environment
from ..rigs.terminals import TerminalProgram

NEW = "a password never seen before"

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def run(app: Flask, *args: str, code: int = 0, typed: str | bytes | None = None) -> Any:
    result = app.test_cli_runner().invoke(args=["accounts", *args], input=typed)
    assert result.exit_code == code, result.output
    return result


def test_missing_password_is_typed_twice_and_not_shown(app: Flask) -> None:
    result = run(app, "create", "bob@example.com", typed=f"{PASSWORD}\n{PASSWORD}\n")
    assert result.output.count("Password") == 1
    assert PASSWORD not in result.output
    log_in(Api(app), "bob@example.com", PASSWORD)


def test_mistyped_password_is_asked_for_again(app: Flask) -> None:
    typed = f"{PASSWORD}\nsomething else\n{NEW}\n{NEW}\n"
    run(app, "create", "bob@example.com", typed=typed)
    log_in(Api(app), "bob@example.com", NEW)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_password_file_is_read_without_its_line_break(app: Flask, tmp_path: Path, end: str) -> None:
    file = tmp_path / "password"
    file.write_bytes(f"{PASSWORD}{end}".encode())
    result = run(app, "create", "bob@example.com", "--password-file", str(file))
    assert json.loads(result.output)["email"] == "bob@example.com"
    log_in(Api(app), "bob@example.com", PASSWORD)


def test_password_is_read_from_standard_input(app: Flask, ada: Person) -> None:
    result = run(app, "set", ada.email, "--password-file", "-", typed=f"{NEW}\n")
    assert json.loads(result.output)["email"] == ada.email
    log_in(Api(app), ada.email, NEW)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"one line\nand another\n", b"\xff\xfe\xff\xfe1234"]
)
def test_file_without_a_password_is_rejected(app: Flask, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "password"
    file.write_bytes(content)
    result = run(app, "create", "bob@example.com", "--password-file", str(file), code=2)
    assert "--password-file" in result.output
    assert run(app, "list").output == ""


def test_password_on_the_command_line_is_a_warning(app: Flask, ada: Person) -> None:
    for command in ("create", "bob@example.com"), ("set", ada.email):
        result = run(app, *command, "--password", NEW)
        assert "can be read by every user of this machine" in result.stderr
        assert NEW not in result.stderr
        assert len(result.stdout.splitlines()) == 1


def test_typed_or_read_password_is_no_warning(app: Flask, ada: Person) -> None:
    asked = run(app, "set", ada.email, "--password", typed=f"{NEW}\n{NEW}\n")
    read = run(app, "set", ada.email, "--password-file", "-", typed=NEW)
    other = run(app, "set", ada.email, "--status", "online")
    assert [each.stderr for each in (asked, read, other)] == ["", "", ""]
    log_in(Api(app), ada.email, NEW)


def test_password_and_password_file_exclude_each_other(app: Flask, ada: Person) -> None:
    options = ("--password", NEW, "--password-file", "-")
    assert "not both" in run(app, "set", ada.email, *options, code=2, typed=NEW).output


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["create", "bob"], "bob is not a valid email address."),
        (["create", "ADA@example.com"], "email address ADA@example.com already exists."),
        (["create", "bob@example.com", "--role", "king"], "'king' is not one of"),
        (["create", "bob@example.com", "--status", "vip"], "'vip' is not one of"),
        (
            ["create", "bob@example.com", "--phone", "12"],
            "12 is not a phone number in international form",
        ),
        (["create", "bob@example.com", "--set", "nickname=Bob"], "has no field nickname"),
        (["set", "bob@example.com"], "No account has the email address bob@example.com."),
        (["set", "ada@example.com", "--email", "ada@"], "ada@ is not a valid email address."),
        (["set", "ada@example.com", "--role", "king"], "'king' is not one of"),
        (
            ["set", "ada@example.com", "--phone", "12"],
            "12 is not a phone number in international form",
        ),
    ],
)
@pytest.mark.parametrize("asks", [True, False])
def test_other_input_is_checked_before_the_password_is_asked_for(
    app: Flask, ada: Person, tmp_path: Path, options: list[str], error: str, asks: bool
) -> None:
    given = ["--password"] if asks else ["--password-file", str(tmp_path / "password")]
    (tmp_path / "password").write_text("short")
    result = app.test_cli_runner().invoke(args=["accounts", *options, *given], input="typed\n")
    assert (result.exit_code in (1, 2), result.stdout) == (True, "")
    assert error in result.stderr
    assert "Password" not in result.stderr


def test_missing_terminal_is_an_error_that_names_the_option(backend: Backend) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flask", "--app", "wsgi", "accounts", "create", "bob@example.com"],
        env=checkout_environment(SECRET_KEY=SECRET, CORE__DATABASE_URL=backend.database_url),
        input=f"{PASSWORD}\n{PASSWORD}\n",
        capture_output=True,
        text=True,
        check=False,
        # Without the terminal of the test run.
        start_new_session=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no terminal to ask for the password. Use --password-file." in done.stderr
    assert "GetPassWarning" not in done.stderr


def test_terminal_does_not_show_the_typed_password(backend: Backend) -> None:
    """In a pseudo-terminal, because other tests cannot check that the program turns echo off."""
    command = ("accounts", "create", "b@example.com")
    with TerminalProgram(backend.database_url, *command) as program:
        program.answer("Password", PASSWORD)
        program.answer("epeat", PASSWORD)
        shown = program.finish()
    assert "b@example.com" in shown
    assert PASSWORD not in shown
