from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from flask import Flask

from app.cli import terminal

from ..conftest import Backend, MakeApp, MakePerson, Person, only_on
from ..rigs.terminals import TerminalProgram


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: True)


def run(app: Flask, *arguments: str, code: int | None = 0, typed: str | None = None) -> Result:
    result = app.test_cli_runner().invoke(args=arguments, input=typed)
    assert code is None or result.exit_code == code, result.output
    return result


@only_on("sqlite")
@pytest.mark.usefixtures("at_terminal")
def test_list_is_a_table_on_a_terminal(app: Flask, ada: Person) -> None:
    head, row = run(app, "accounts", "list").stdout.splitlines()
    assert head.split() == ["ID", "EMAIL", "ROLE", "STATUS", "PHONE", "CREATED", "AT"]
    assert row.split()[:5] == ["1", "ada@example.com", "user", "active", "-"]
    assert row.endswith(" UTC")
    assert head.index("ROLE") == row.index("user")


@only_on("sqlite")
@pytest.mark.usefixtures("at_terminal")
def test_account_is_a_line_for_each_field_on_a_terminal(app: Flask, ada: Person) -> None:
    lines = run(app, "accounts", "set", ada.email, "--role", "admin").stdout.splitlines()
    fields = dict(line.split("  ", 1) for line in lines)
    assert fields["role"].strip() == "admin"
    assert fields["email verified"].strip() == "yes"


@only_on("sqlite")
@pytest.mark.usefixtures("at_terminal")
def test_json_option_prints_json_on_a_terminal(app: Flask, ada: Person) -> None:
    assert json.loads(run(app, "accounts", "list", "--json").stdout)["email"] == ada.email
    assert json.loads(run(app, "frontdesk", "doctor", "--json", code=1).stdout)["ok"] is False
    status = json.loads(run(app, "notifications", "status", "--json").stdout)
    assert status["oldest_waits_seconds"] == 0
    assert "templates" in json.loads(run(app, "mail", "preview", "--json").stdout)


@only_on("sqlite")
@pytest.mark.usefixtures("at_terminal")
def test_empty_lists_are_a_sentence_on_a_terminal(app: Flask) -> None:
    assert run(app, "workspaces", "list").stdout == "There are no workspaces.\n"
    assert run(app, "notifications", "status").stdout.startswith("There are no deliveries.\n")


@only_on("sqlite")
@pytest.mark.usefixtures("at_terminal")
def test_control_characters_do_not_reach_the_terminal(app: Flask) -> None:
    run(app, "workspaces", "create", "team", "--name", "a\x1b[31m\u202eb")
    table = run(app, "workspaces", "list").stdout
    assert r"a\x1b[31m\u202eb" in table
    assert "\x1b" not in table


@only_on("sqlite")
@pytest.mark.usefixtures("at_terminal")
def test_dry_run_prints_what_an_import_would_do(app: Flask) -> None:
    Path("file").write_text('{"email": "ada@example.com"}\n{"email": "no address"}\n')
    dry = run(app, "accounts", "import", "file", "--dry-run", code=3).stdout
    lines = dict(line.rsplit(maxsplit=1) for line in dry.splitlines())
    assert lines["dry run"] == "yes"
    assert (lines["would import"], lines["would reject"]) == ("1", "1")
    assert "would" not in run(app, "accounts", "import", "file", code=3).stdout


@only_on("sqlite")
def test_long_commands_show_progress_only_on_a_terminal(
    app: Flask, backend: Backend, ada: Person
) -> None:
    Path("file").write_text('{"email": "bob@example.com"}\n')
    commands = {
        "Importing": ("accounts", "import", "file"),
        "Exporting": ("accounts", "export", "copy", "--yes"),
        "Pruning": ("frontdesk", "prune"),
    }
    for label, command in commands.items():
        with TerminalProgram(backend.database_url, *command) as program:
            shown = program.finish()
        assert f"{label}  [" in shown
        assert "100%" in shown
        assert label not in run(app, *command).output
    command = ("frontdesk", "reencrypt")
    with TerminalProgram(backend.database_url, *command, AUTH__MFA="optional") as program:
        assert "Encrypting  [" in program.finish()


@only_on("sqlite")
def test_export_to_a_terminal_has_no_progress_bar(
    app: Flask, backend: Backend, ada: Person
) -> None:
    with TerminalProgram(backend.database_url, "accounts", "export") as program:
        assert "Exporting" not in program.finish()
    with TerminalProgram(backend.database_url, "accounts", "export", piped=True) as program:
        assert "Exporting" in program.finish()
        assert ada.email in program.output()


@only_on("sqlite")
def test_commands_log_only_warnings_unless_a_level_is_set(
    app: Flask, backend: Backend, ada: Person
) -> None:
    command = ("accounts", "sign-out", ada.email, "--json")
    with TerminalProgram(backend.database_url, *command) as program:
        assert json.loads(program.finish())["email"] == ada.email
    with TerminalProgram(backend.database_url, *command, CORE__LOG_LEVEL="INFO") as program:
        assert "INFO    frontdesk.security" in program.finish()


def test_table_columns_are_as_wide_as_their_widest_cell() -> None:
    rows = [["1", "a"], ["22", "東京"], ["3", "é"]]
    assert list(terminal._table(["N", "NAME"], iter(rows), "")) == [
        "N   NAME",
        "1   a",
        "22  東京",
        "3   é",
    ]


def test_missing_standard_stream_is_no_terminal() -> None:
    assert terminal.is_terminal(None) is False


@only_on("sqlite")
@pytest.mark.usefixtures("at_terminal")
@pytest.mark.parametrize(
    ("command", "question"),
    [
        ("accounts delete ada@example.com", "Delete the account ada@example.com and all its data?"),
        ("accounts sign-out --all", "Sign out all accounts? All users must sign in again."),
        ("notifications prune --days 9", "Delete all notifications older than 9 days?"),
        ("accounts export file", "Overwrite file?"),
    ],
)
def test_destructive_command_asks_on_a_terminal(
    app: Flask, ada: Person, command: str, question: str
) -> None:
    Path("file").write_text("before")
    api = ada.api()
    refused = run(app, *command.split(), code=1, typed="\n")
    assert f"{question} [y/N]" in refused.stderr
    assert refused.stderr.endswith("Aborted!\n")
    api.get("/account")
    assert Path("file").read_text() == "before"
    run(app, *command.split(), typed="y\n")
    assert question not in run(app, *command.split(), "--yes", code=None).output


@only_on("sqlite")
@pytest.mark.usefixtures("at_terminal")
def test_mfa_reset_asks_on_a_terminal(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__MFA="optional")
    ada = person("ada", into=app)
    refused = run(app, "accounts", "reset-mfa", ada.email, code=1, typed="n\n")
    assert f"Remove all MFA methods of the account {ada.email}" in refused.stderr
    run(app, "accounts", "reset-mfa", ada.email, "--yes")


@only_on("sqlite")
def test_question_is_asked_where_only_standard_output_is_no_terminal(
    app: Flask, ada: Person, backend: Backend
) -> None:
    command = ("accounts", "delete", ada.email)
    with TerminalProgram(backend.database_url, *command, piped=True) as program:
        program.answer("all its data? [y/N]: ", "y")
        program.finish()
        assert json.loads(program.output())["email"] == ada.email
    assert run(app, "accounts", "list").stdout == ""


@only_on("sqlite")
def test_program_prints_a_table_on_a_terminal_and_json_into_a_pipe(
    app: Flask, ada: Person, backend: Backend
) -> None:
    with TerminalProgram(backend.database_url, "accounts", "list") as program:
        shown = program.finish()
    assert "EMAIL" in shown
    assert '"email"' not in shown
    with TerminalProgram(backend.database_url, "accounts", "list", piped=True) as program:
        assert ada.email not in program.finish()
        account = json.loads(program.output())
    assert account["email"] == ada.email
