"""A zip file that is written as a stream, without its content in memory."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from types import TracebackType
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import orjson

_LINES_BYTES = 256 * 1024
_JSON = orjson.OPT_NON_STR_KEYS
_LONGEST_NAME = 100
# Characters that some file systems do not allow in names.
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*]')


def as_json(value: object, options: int = _JSON) -> bytes:
    """Serialize a value; types without a JSON form become strings."""
    return orjson.dumps(value, default=str, option=options)


class Archive:
    def __init__(self, file: IO[bytes]) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=3)
        self._moment = datetime.now(UTC).timetuple()[:6]
        # Case-folded names, because some file systems ignore the case.
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

    def lines(self, name: str, rows: Iterable[object]) -> None:
        """Add a file with one JSON document per row and line."""
        with self._zip.open(self._entry(name), "w", force_zip64=True) as entry:
            buffer = bytearray()
            for row in rows:
                buffer += as_json(row, _JSON | orjson.OPT_APPEND_NEWLINE)
                if len(buffer) >= _LINES_BYTES:
                    entry.write(buffer)
                    buffer.clear()
            entry.write(buffer)

    def add(self, folder: str, name: object, content: object) -> None:
        """Add a file under a name that the application chose, always inside its folder."""
        name = self._free_name(f"{_folder(folder)}/{_file(name)}")
        if isinstance(content, bytes | bytearray | memoryview):
            self.bytes(name, bytes(content))
        else:
            self.json(name, content)

    def _free_name(self, name: str) -> str:
        stem, dot, ending = name.rpartition(".")
        free, number = name, 2
        while _comparable(free) in self._taken:
            free = f"{stem}-{number}.{ending}" if dot else f"{name}-{number}"
            number += 1
        return free

    def _entry(self, name: str) -> ZipInfo:
        self._taken.add(_comparable(name))
        entry = ZipInfo(name, self._moment)
        entry.compress_type = ZIP_DEFLATED
        # Only the owner can read the unpacked file.
        entry.external_attr = 0o600 << 16
        return entry


def _comparable(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _folder(name: str) -> str:
    """Return the name of a folder without dots: it cannot equal a name of Frontdesk's files."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:_LONGEST_NAME] or "_"


def _file(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"The name of an exporter's file must be a string, not {name!r}")
    parts = (part.strip(" .") for part in re.split(r"[\\/]", _FORBIDDEN.sub("_", name)))
    safe = "_".join(part for part in parts if part).encode("utf-8", "replace").decode()
    stem, dot, ending = safe.rpartition(".")
    if dot and len(safe) > _LONGEST_NAME:
        safe = f"{stem[: _LONGEST_NAME - 10]}.{ending[:9]}"
    return safe[:_LONGEST_NAME] or "file"
