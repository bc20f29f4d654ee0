"""`make cli`: writes docs/cli.md from the help of the commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from app.cli.groups import HELP, lazy_group

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"

_HEAD = """\
# Command line (CLI)

Find every command of Frontdesk with its options, an example and its exit codes.

The commands belong to `flask`. For the service, run `flask --app wsgi accounts list` in the folder
with `wsgi.py`, or set `FLASK_APP=wsgi` once. In your application, use the name of your application;
it has the commands of the blueprints that it mounts. `flask accounts create --help` prints the help
of a command.

Run the commands with the environment of the server, because they read the same settings. They need
the database, and no running server.

## Create the first admin user

Create an account with the role `root`, which may do everything. The command asks for the password:

```sh
flask accounts create ada@example.com --role root
```

An account with the role `admin` manages users and cannot appoint admins.

## Output

- **On a terminal**, a command prints tables and sentences.
- **If standard output is not a terminal**, commands that print records print JSON lines: one object
  on each line. `--json` always prints JSON.
- **Errors, warnings, questions and progress bars** go to standard error. Long commands (`accounts
  import`, `accounts export`, `frontdesk prune`, `frontdesk reencrypt`)
  show a progress bar if standard error is a terminal.
- **Questions.** A command that deletes or overwrites data asks for confirmation. `--yes` skips the
  question. If standard input is not a terminal, the command does not ask.
- **Logs.** The service's commands log only warnings and errors, to standard error. Set
  `CORE__LOG_LEVEL=INFO` to see more.

## Exit codes

| code | meaning |
|---|---|
| `0` | The command succeeded |
| `1` | The command failed, or you answered a question with no. Standard error has the reason |
| `2` | The command has an unknown option, a missing argument or an invalid value |
| `3` | `accounts import` rejected at least one row, and imported all others |

## Shell completion

Completion suggests commands, options and values. Install it once in your shell:

```sh
# bash
_FLASK_COMPLETE=bash_source flask > ~/.flask-complete.bash
echo '. ~/.flask-complete.bash' >> ~/.bashrc

# zsh
_FLASK_COMPLETE=zsh_source flask > ~/.flask-complete.zsh
echo '. ~/.flask-complete.zsh' >> ~/.zshrc

# fish
_FLASK_COMPLETE=fish_source flask > ~/.config/fish/completions/flask.fish
```

Start a new shell and activate the virtual environment. Set `FLASK_APP`, so that `flask` finds the
commands of your application:

```sh
export FLASK_APP=wsgi
flask accounts im           # press Tab: flask accounts import
```

## All commands

This page is generated from the code by `make cli`. For `flask db`, see
[database migrations](migrations.md).
"""
_EXIT_CODE = re.compile(r"The exit code is (\d) if (.+?)\.(?=\s|$)")
_PLACEHOLDERS = {
    "text": "TEXT",
    "choice": "VALUE",
    "integer": "NUMBER",
    "integer range": "NUMBER",
    "file": "FILE",
    "filename": "FILE",
}
_MEANINGS = {0: "success", 1: "error", 2: "wrong usage"}
# Options, settings and the dash for a standard stream, unless they are in backticks already.
_CODE = re.compile(r"(?<![`\w/-])(--[a-z][a-z-]+|[A-Z]+_[A-Z_]+|-(?= is))(?![^`\s]*`)(?!\w)")


def page() -> str:
    found = dict(commands())
    return "\n".join([_HEAD, *_index(found), *_sections(found)])


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield all commands by their names, such as `accounts create`."""
    for group_name in HELP:
        group = lazy_group(group_name)
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            # A group in a group, such as `frontdesk migrations`.
            inner = command.commands if isinstance(command, click.Group) else {"": command}
            for last, each in inner.items():
                yield f"{group_name} {name} {last}".strip(), each


def _index(found: dict[str, click.Command]) -> Iterator[str]:
    yield "| command | description |"
    yield "|---|---|"
    for name, command in found.items():
        summary = _paragraphs(command)[0].removesuffix(".")
        yield f"| [`flask {name}`](#flask-{name.replace(' ', '-')}) | {summary} |"
    yield ""


def _sections(found: dict[str, click.Command]) -> Iterator[str]:
    for name, command in found.items():
        yield f"### `flask {name}`\n"
        for paragraph in _paragraphs(command):
            yield f"{paragraph}\n"
        yield f"```text\n{_usage(name, command)}\n```\n"
        yield from _options(command)
        yield f"```sh\n{_examples(command)}\n```\n"
        yield f"**Exit codes:** {_exit_codes(command)}.\n"


def _paragraphs(command: click.Command) -> list[str]:
    about = _help(command).partition("\b\nExamples:\n")[0]
    return [_CODE.sub(r"`\1`", " ".join(part.split())) for part in about.strip().split("\n\n")]


def _examples(command: click.Command) -> str:
    return inspect.cleandoc(_help(command).partition("\b\nExamples:\n")[2])


def _help(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "")


def _usage(name: str, command: click.Command) -> str:
    pieces = command.collect_usage_pieces(click.Context(command))
    return " ".join(["flask", name, *pieces])


def _options(command: click.Command) -> Iterator[str]:
    yield "| option | description |"
    yield "|---|---|"
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            placeholder = "" if parameter.is_flag else f" {_PLACEHOLDERS[parameter.type.name]}"
            yield f"| `{parameter.opts[0]}`{placeholder} | {_description(parameter)} |"
    yield ""


def _description(option: click.Option) -> str:
    sentences = [_CODE.sub(r"`\1`", " ".join((option.help or "").split()))]
    if isinstance(option.type, click.Choice):
        sentences.append(f"One of {', '.join(f'`{choice}`' for choice in option.type.choices)}.")
    if option.show_default:
        sentences.append(f"Default: `{option.default}`.")
    if option.required:
        sentences.append("Required.")
    return " ".join(sentences)


def _exit_codes(command: click.Command) -> str:
    meanings = dict(_MEANINGS)
    for code, case in _EXIT_CODE.findall(" ".join(_help(command).split())):
        number = int(code)
        meanings[number] = f"{meanings[number]}, or {case}" if number in meanings else case
    return "; ".join(f"`{code}` {meaning}" for code, meaning in sorted(meanings.items()))


def main() -> None:
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
