"""Output of commands: tables, questions and progress bars on a terminal, JSON lines elsewhere."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, TextIO
from unicodedata import combining, east_asian_width

import click
import orjson

from ..core.types import AnyFunction

Record = Mapping[str, Any]

_NO_LABELS: Mapping[str, str] = {}
_JSON = "frontdesk.json"
_YES = "frontdesk.yes"
# The widths of a table's columns come from its first rows, because a list can have millions.
_MEASURED_ROWS = 200
# How often a progress bar is drawn at the most.
_MOST_UPDATES = 1_000
_UTC = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(\.\d+)?(\+00:00|Z)")


def is_terminal(stream: TextIO | None) -> bool:
    """A process that was started without a standard stream has None in its place."""
    return stream is not None and stream.isatty()


def _flag(name: str, key: str, about: str) -> Callable[[AnyFunction], AnyFunction]:
    def store(context: click.Context, _option: click.Parameter, is_given: bool) -> None:
        context.meta[key] = is_given

    return click.option(name, is_flag=True, expose_value=False, callback=store, help=about)


json_option = _flag("--json", _JSON, "Print JSON, also on a terminal.")
yes_option = _flag("--yes", _YES, "Do not ask for confirmation.")


def confirm(question: str) -> None:
    """Ask before data is lost, if standard input is a terminal. The answer no aborts the command
    with exit code 1."""
    if not click.get_current_context().meta.get(_YES) and is_terminal(sys.stdin):
        click.confirm(question, abort=True, err=True)


@contextmanager
def progress(label: str, length: Callable[[], int | None]) -> Iterator[Callable[[int], None]]:
    """Show a progress bar if standard error is a terminal and the length is known.

    Yields a function that advances the bar by a number of steps.
    """
    total = length() if is_terminal(sys.stderr) else None
    if total is None:
        yield lambda _steps: None
        return
    steps = max(1, total // _MOST_UPDATES)
    with click.progressbar(
        length=total, label=label, file=sys.stderr, update_min_steps=steps
    ) as bar:
        yield bar.update


def json_requested() -> bool:
    return bool(click.get_current_context().meta.get(_JSON))


def prints_json() -> bool:
    return json_requested() or not is_terminal(sys.stdout)


def print_json(record: Record) -> None:
    click.echo(orjson.dumps(record).decode())


def print_record(record: Record, labels: Mapping[str, str] = _NO_LABELS) -> None:
    """Print a line of JSON, or on a terminal a line for each field, with its label."""
    if prints_json():
        print_json(record)
        return
    names = {labels.get(name, name.replace("_", " ")): value for name, value in record.items()}
    width = max(map(_width, names))
    for name, value in names.items():
        click.echo(f"{_padded(name, width)}  {_cell(value)}".rstrip())


def print_text(text: str, record: Record) -> None:
    """Print text for people, and JSON only with `--json`."""
    if json_requested():
        print_json(record)
    else:
        click.echo(text)


def print_records(records: Iterable[Record], columns: Sequence[str], empty: str) -> None:
    """Print a line of JSON for each record, or on a terminal a table of these columns."""
    if prints_json():
        for record in records:
            print_json(record)
        return
    lines = ([_cell(record.get(name)) for name in columns] for record in records)
    for line in _table([name.replace("_", " ").upper() for name in columns], lines, empty):
        click.echo(line)


def _table(head: list[str], rows: Iterator[list[str]], empty: str) -> Iterator[str]:
    measured = list(islice(rows, _MEASURED_ROWS))
    if not measured:
        yield empty
        return
    widths = [max(map(_width, column)) for column in zip(head, *measured, strict=True)]
    for row in chain([head], measured, rows):
        yield "  ".join(map(_padded, row, widths)).rstrip()


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_cell(inner)}" for name, inner in value.items()) or "-"
    text = _UTC.sub(r"\1 \2 UTC", str(value))
    # Names come from users: control characters must not reach the terminal.
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _width(text: str) -> int:
    """Return the number of terminal columns."""
    return sum(
        0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text
    )


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
