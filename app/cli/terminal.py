"""What commands print and ask: tables and questions on a terminal, JSON lines for programs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TextIO
from unicodedata import combining, east_asian_width

import click
import orjson

from ..core.types import AnyFunction

Record = Mapping[str, Any]

_JSON = "frontdesk.json"
_YES = "frontdesk.yes"
# The widths of a table's columns come from its first rows, because a list can have millions.
_MEASURED_ROWS = 200
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
    """Ask before data is lost; a refusal ends the command with exit code 1.

    Without a terminal nobody can answer, and scripts are not asked.
    """
    if not click.get_current_context().meta.get(_YES) and is_terminal(sys.stdin):
        click.confirm(question, abort=True, err=True)


def json_requested() -> bool:
    return bool(click.get_current_context().meta.get(_JSON))


def prints_json() -> bool:
    return json_requested() or not is_terminal(sys.stdout)


def print_json(record: Record) -> None:
    click.echo(orjson.dumps(record).decode())


def print_record(record: Record) -> None:
    """Print a line of JSON, or on a terminal a line for each field."""
    if prints_json():
        print_json(record)
        return
    names = {name.replace("_", " "): value for name, value in record.items()}
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
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _width(text: str) -> int:
    """The number of terminal columns."""
    return sum(
        0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in text
    )


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
