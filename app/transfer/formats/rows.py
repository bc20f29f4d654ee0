"""Reads rows of a table: JSON lines, a JSON array or CSV."""

import csv
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TextIO

import orjson

from ..account import ImportedAccount, Row, RowError, UnreadableRow
from .json_items import TextSource, items

LONGEST_LINE = 1024 * 1024

Fields = Mapping[str, object]
Numbered = tuple[int, Fields | RowError]


def read_accounts(stream: TextIO, make: Callable[[Fields], ImportedAccount]) -> Iterator[Row]:
    """Yield an account for each row, or the row's error."""
    for line, row in _table(stream):
        if isinstance(row, RowError):
            yield UnreadableRow(line, row)
            continue
        try:
            account = make(row)
        except RowError as error:
            yield UnreadableRow(line, error)
            continue
        account.line, account.row = line, row
        yield account


def _table(stream: TextIO) -> Iterator[Numbered]:
    """Read JSON lines, a JSON array or CSV, as the first character shows."""
    first = stream.readline(LONGEST_LINE)
    while first and not first.strip():
        first = stream.readline(LONGEST_LINE)
    if first.lstrip().startswith("["):
        return _documents(_PrependedStream(first, stream))
    if first.lstrip().startswith("{"):
        return _json_lines(first, stream)
    return _csv(chain([first], stream))


def _documents(stream: TextSource) -> Iterator[Numbered]:
    """Yield the objects of a JSON array, up to the first syntax error."""
    number = 0
    objects = items(stream)
    while True:
        number += 1
        try:
            row = next(objects, None)
        except RowError as error:
            yield number, error
            return
        if row is None:
            return
        yield number, _object(row)


def _json_lines(first: str, stream: TextIO) -> Iterator[Numbered]:
    number, line = 1, first
    while line:
        if not line.endswith("\n") and len(line) == LONGEST_LINE:
            while line and not line.endswith("\n"):
                line = stream.readline(LONGEST_LINE)
            yield number, RowError("too_long", "The line is longer than a mebibyte.")
        elif line.strip():
            yield number, _json(line)
        number, line = number + 1, stream.readline(LONGEST_LINE)


def _json(line: str) -> Fields | RowError:
    try:
        return _object(orjson.loads(line))
    except ValueError:
        return RowError("broken_line", "The line is not JSON.")


def _object(value: object) -> Fields | RowError:
    return (
        value
        if isinstance(value, dict)
        else RowError("broken_line", "The line is not a JSON object.")
    )


def _csv(lines: Iterator[str]) -> Iterator[Numbered]:
    """Yield rows without their empty fields."""
    reader = csv.reader(lines, strict=True)
    names = next(reader, [])
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num, RowError("broken_line", f"The line is not CSV: {error}.")
            continue
        if len(fields) == len(names):
            yield reader.line_num, {n: f for n, f in zip(names, fields, strict=True) if f != ""}
        elif fields:
            reason = f"The line has {len(fields)} fields, and the header has {len(names)} names."
            yield reader.line_num, RowError("broken_line", reason)


class _PrependedStream:
    """A stream with its first line already read."""

    def __init__(self, first: str, stream: TextIO) -> None:
        self._first = first
        self._stream = stream

    def read(self, size: int, /) -> str:
        first, self._first = self._first, ""
        return first or self._stream.read(size)
