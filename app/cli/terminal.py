"""What commands print: tables for people at a terminal, JSON lines for programs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TextIO
from unicodedata import combining, east_asian_width

import click
import orjson

Record = Mapping[str, Any]

_JSON = "frontdesk.json"
# The widths of a table's columns come from its first rows, because a list can have millions.
_MEASURED_ROWS = 200
_UTC = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(\.\d+)?(\+00:00|Z)")


def is_terminal(stream: TextIO | None) -> bool:
    """A process that was started without a standard stream has None in its place."""
    return stream is not None and stream.isatty()


def _remember(context: click.Context, _option: click.Parameter, is_given: bool) -> None:
    context.meta[_JSON] = is_given


json_option = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Print JSON, also on a terminal.",
)


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
