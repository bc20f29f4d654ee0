"""Reads the objects of a large JSON array one by one, without the document in memory."""

import json
from collections.abc import Iterator
from typing import NoReturn, Protocol

from ..account import RowError

_CHUNK = 64 * 1024
# The longest value.
_MAX_VALUE = 64 * 1024 * 1024
_BLANK = " \t\r\n"


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_reject_constant)


class TextSource(Protocol):
    def read(self, size: int, /) -> str: ...


def items(stream: TextSource) -> Iterator[object]:
    """Yield the items of the document, which is an array."""
    return _Document(stream).items()


class _Document:
    def __init__(self, stream: TextSource) -> None:
        self._stream = stream
        self._text = ""
        self._at = 0
        self._lines = 1
        self._ended = False

    def items(self) -> Iterator[object]:
        self._take("[")
        if self._next() == "]":
            return
        while True:
            yield self._value()
            if self._next() == "]":
                return
            self._take(",")

    def _next(self) -> str:
        """Return the next character that is not blank, without consuming it."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _BLANK:
                    return self._text[self._at]
                self._at += 1
            if not self._read_more():
                return ""

    def _take(self, character: str) -> None:
        if self._next() != character:
            self._broken(self._at)
        self._at += 1

    def _value(self) -> object:
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                # The value may continue after the text that was read so far.
                if not self._read_more():
                    self._broken(getattr(error, "pos", self._at))
                continue
            if end < len(self._text) or not self._read_more():
                self._at = end
                return value

    def _read_more(self) -> bool:
        """Read more; the amount doubles for a long value, so that each character is parsed only a
        few times."""
        if self._ended:
            return False
        rest = self._text[self._at :]
        if len(rest) > _MAX_VALUE:
            self._broken(self._at)
        self._lines += self._text.count("\n", 0, self._at)
        read = self._stream.read(max(_CHUNK, len(rest)))
        self._text, self._at, self._ended = rest + read, 0, not read
        return bool(read)

    def _broken(self, at: int) -> NoReturn:
        line = self._lines + self._text.count("\n", 0, at)
        raise RowError("broken_file", f"The document is not JSON from line {line} on.")
