"""Rows of a table, as databases give them: JSON lines, a JSON array or CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, TextIO

import orjson

from ..account import ImportedAccount, Row, RowFault, UnreadableRow
from .json_items import TextSource, items

LONGEST_LINE = 1024 * 1024

Fields = Mapping[str, Any]
Numbered = tuple[int, Fields | RowFault]


def each(rows: Iterator[Numbered], make: Callable[[Fields], ImportedAccount]) -> Iterator[Row]:
    """Return an account for each row, or the row's error."""
    for line, row in rows:
        if isinstance(row, RowFault):
            yield UnreadableRow(line, row)
            continue
        try:
            account = make(row)
        except RowFault as fault:
            yield UnreadableRow(line, fault)
            continue
        account.line = line
        yield account


def table(stream: TextIO) -> Iterator[Numbered]:
    """Detect the format by the first character."""
    first = stream.readline(LONGEST_LINE)
    while first and not first.strip():
        first = stream.readline(LONGEST_LINE)
    if first.lstrip().startswith("["):
        return documents(_PrependedStream(first, stream))
    if first.lstrip().startswith("{"):
        return _json_lines(first, stream)
    return _csv(chain([first], stream))


def documents(stream: TextSource, key: str | None = None) -> Iterator[Numbered]:
    """The objects of a JSON document. Where it breaks off, what follows cannot be read."""
    number = 0
    found = items(stream, key)
    while True:
        number += 1
        try:
            row = next(found, None)
        except RowFault as fault:
            yield number, fault
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
            yield number, RowFault("too_long", "The line is longer than a mebibyte.")
        elif line.strip():
            yield number, _json(line)
        number, line = number + 1, stream.readline(LONGEST_LINE)


def _json(line: str) -> Fields | RowFault:
    try:
        return _object(orjson.loads(line))
    except ValueError:
        return RowFault("broken_line", "The line is not JSON.")


def _object(value: object) -> Fields | RowFault:
    return value if isinstance(value, dict) else RowFault("broken_line", "It is no JSON object.")


def _csv(lines: Iterator[str]) -> Iterator[Numbered]:
    """An empty field is one that is not there."""
    reader = csv.reader(lines, strict=True)
    names = next(reader, [])
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num, RowFault("broken_line", f"The line is not CSV: {error}.")
            continue
        if len(fields) == len(names):
            yield reader.line_num, {n: f for n, f in zip(names, fields, strict=True) if f != ""}
        elif fields:
            reason = f"The line has {len(fields)} fields, and the first one {len(names)} names."
            yield reader.line_num, RowFault("broken_line", reason)


class _PrependedStream:
    """A stream with its first line already read."""

    def __init__(self, first: str, stream: TextIO) -> None:
        self._first = first
        self._stream = stream

    def read(self, size: int, /) -> str:
        first, self._first = self._first, ""
        return first or self._stream.read(size)
