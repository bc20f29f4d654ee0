"""A zip that is written as it goes: nothing of it waits in memory for the rest."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from types import TracebackType
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import orjson

_LINES_BYTES = 256 * 1024
_JSON = orjson.OPT_NON_STR_KEYS
_LONGEST_NAME = 100
# What some file system takes for more than a letter of a name.
_ODD = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*]')


def as_json(value: object, options: int = _JSON) -> bytes:
    """Moments, dates and UUIDs as they are usually written; what JSON has no word for, as text."""
    return orjson.dumps(value, default=str, option=options)


class Archive:
    def __init__(self, file: IO[bytes]) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=3)
        self._moment = datetime.now(UTC).timetuple()[:6]
        # As a file system sees them that takes small letters and large ones for the same.
        self._taken: set[str] = set()

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._zip.close()

    def bytes(self, name: str, data: bytes) -> None:
        self._zip.writestr(self._entry(name), data)

    def json(self, name: str, value: object) -> None:
        self.bytes(name, as_json(value, _JSON | orjson.OPT_INDENT_2))

    def lines(self, name: str, rows: Iterable[Any]) -> None:
        """One JSON document on each line, however many there are."""
        with self._zip.open(self._entry(name), "w", force_zip64=True) as entry:
            waiting = bytearray()
            for row in rows:
                waiting += as_json(row, _JSON | orjson.OPT_APPEND_NEWLINE)
                if len(waiting) >= _LINES_BYTES:
                    entry.write(waiting)
                    waiting.clear()
            entry.write(waiting)

    def foreign(self, folder: str, name: object, content: object) -> None:
        """Add a file under a name that the application chose, always inside its folder."""
        name = self._free(f"{_folder(folder)}/{_file(name)}")
        if isinstance(content, bytes | bytearray | memoryview):
            self.bytes(name, bytes(content))
        else:
            self.json(name, content)

    def _free(self, name: str) -> str:
        stem, dot, ending = name.rpartition(".")
        free, number = name, 2
        while _alike(free) in self._taken:
            free = f"{stem}-{number}.{ending}" if dot else f"{name}-{number}"
            number += 1
        return free

    def _entry(self, name: str) -> ZipInfo:
        self._taken.add(_alike(name))
        entry = ZipInfo(name, self._moment)
        entry.compress_type = ZIP_DEFLATED
        # For the owner's eyes, where it is unpacked.
        entry.external_attr = 0o600 << 16
        return entry


def _alike(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _folder(name: str) -> str:
    """With no dot in it, it is the name of none of our files."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:_LONGEST_NAME] or "_"


def _file(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"An exporter's file has a text for a name, and not {name!r}")
    parts = (part.strip(" .") for part in re.split(r"[\\/]", _ODD.sub("_", name)))
    kept = "_".join(part for part in parts if part).encode("utf-8", "replace").decode()
    stem, dot, ending = kept.rpartition(".")
    if dot and len(kept) > _LONGEST_NAME:
        kept = f"{stem[: _LONGEST_NAME - 10]}.{ending[:9]}"
    return kept[:_LONGEST_NAME] or "file"
