from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from app.cli.groups import HELP, lazy_group
from scripts.cli import PAGE, commands, page

from ..conftest import SECRET
from ..rigs.servers import checkout_environment

COMMANDS = dict(commands())


def test_every_group_has_commands() -> None:
    assert {name.split()[0] for name in COMMANDS} == set(HELP)


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_a_sentence_and_examples(name: str) -> None:
    help_text = inspect.cleandoc(COMMANDS[name].help or "")
    about, _, examples = help_text.partition("\b\nExamples:\n")
    first = about.split("\n\n")[0]
    assert re.fullmatch(r"[A-Z][^.].+\.", first, re.S), f"`flask {name}` has no description"
    lines = examples.strip().splitlines()
    assert lines, f"`flask {name}` has no example"
    assert [line for line in lines if not line.strip().startswith(f"flask {name}")] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_option_has_a_sentence_and_argument_is_explained(name: str) -> None:
    command = COMMANDS[name]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            about = parameter.help or ""
            assert re.match(r"[A-Z].+[.]$", about, re.S), f"`flask {name}` {parameter.opts[0]}"
        else:
            argument = parameter.metavar or (parameter.name or "").upper()
            assert argument in (command.help or ""), f"`flask {name}` {argument}"


@pytest.mark.parametrize("name", HELP)
def test_listed_commands_have_whole_sentences(name: str) -> None:
    """In the 80 columns of a terminal, also the groups in a group."""
    groups: list[click.Group] = [lazy_group(name)]
    for group in groups:
        context = group.make_context(name, [], resilient_parsing=True)
        shown = context.command.get_help(context)
        assert "..." not in shown.partition("Commands:")[2]
        groups += [
            found
            for each in group.list_commands(context)
            if isinstance(found := group.get_command(context, each), click.Group)
        ]


@pytest.mark.parametrize("name", COMMANDS)
def test_short_help_is_a_short_sentence(name: str) -> None:
    short = COMMANDS[name].short_help or ""
    assert re.fullmatch(r"[A-Z][^.]{1,43}\.", short), f"`flask {name}`: {short!r}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_json(name: str) -> None:
    """`accounts export` has its own formats."""
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert ("--json" in options) is (name != "accounts export")


def test_reference_page_is_current() -> None:
    assert PAGE.read_text() == page(), "run `make cli`"


@pytest.mark.parametrize("name", HELP)
def test_group_help_is_the_line_that_flask_lists(name: str) -> None:
    group = lazy_group(name)
    assert group.make_context(name, [], resilient_parsing=True).command.help == HELP[name]
    assert group.help == HELP[name]
    assert HELP[name].endswith(".")


def test_flask_help_imports_no_commands(tmp_path: Path) -> None:
    probe = (
        "import sys; from flask.cli import main; sys.argv[1:] = ['--app', 'wsgi', '--help']\n"
        "try: main()\n"
        "finally: print([name for name in sys.modules if name.startswith('app.cli.')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", probe],
        env=checkout_environment(
            SECRET_KEY=SECRET, CORE__DATABASE_URL=f"sqlite:///{tmp_path / 'x.db'}"
        ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(about in result.stdout for about in HELP.values())
    assert result.stdout.splitlines()[-1] == "['app.cli.groups']"
