"""The objects of a large JSON document, one after another, without the whole of it in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn, Protocol

from ..account import RowFault

_CHUNK = 64 * 1024
# Of one value: beyond that the document is not what it is taken for.
_MOST = 64 * 1024 * 1024
_BLANK = " \t\r\n"


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


class TextSource(Protocol):
    def read(self, size: int, /) -> str: ...


def items(stream: TextSource, key: str | None = None) -> Iterator[Any]:
    """Of the array that the document is, or that it has under this key."""
    return _Document(stream).items(key)


class _Document:
    def __init__(self, stream: TextSource) -> None:
        self._stream = stream
        self._text = ""
        self._at = 0
        self._lines = 1
        self._ended = False

    def items(self, key: str | None) -> Iterator[Any]:
        if key is not None and self._next() == "{":
            self._find(key)
        self._take("[")
        if self._next() == "]":
            return
        while True:
            yield self._value()
            if self._next() == "]":
                return
            self._take(",")

    def _find(self, key: str) -> None:
        self._take("{")
        while self._next() != "}":
            name = self._value()
            self._take(":")
            if name == key:
                return
            self._value()
            if self._next() == ",":
                self._take(",")
        raise RowFault("broken_file", f"The document has no {key!r}.")

    def _next(self) -> str:
        """The next character that says something, left where it is."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _BLANK:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _take(self, character: str) -> None:
        if self._next() != character:
            self._broken(self._at)
        self._at += 1

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                # Perhaps only cut off where the text that was read so far ends.
                if not self._more():
                    self._broken(getattr(error, "pos", self._at))
                continue
            if end < len(self._text) or not self._more():
                self._at = end
                return value

    def _more(self) -> bool:
        """Read on, twice as much each time that one value needs: each character is then looked at
        a few times at the most."""
        if self._ended:
            return False
        rest = self._text[self._at :]
        if len(rest) > _MOST:
            self._broken(self._at)
        self._lines += self._text.count("\n", 0, self._at)
        read = self._stream.read(max(_CHUNK, len(rest)))
        self._text, self._at, self._ended = rest + read, 0, not read
        return bool(read)

    def _broken(self, at: int) -> NoReturn:
        line = self._lines + self._text.count("\n", 0, at)
        raise RowFault("broken_file", f"The document is not JSON from line {line} on.")
