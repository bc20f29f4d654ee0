"""The interface of file stores, and their errors.

A store keeps small files under flat names. The caller stores the name of a file, and a
cleanup compares `files()` with the names in use.
"""

import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO, NamedTuple, Protocol

from ..core.errors import Unavailable

log = logging.getLogger(__name__)

# Lower case only: a name identifies one file on every file system. No separator, no leading dot.
_SAFE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*", re.ASCII)
_LONGEST_NAME = 128
CHUNK_BYTES = 64 * 1024


class FileMissing(Exception):
    """No file is stored under this name."""


class UnsafeName(ValueError):
    """The name may refer to something other than one file in the store."""


class StorageUnavailable(Unavailable):
    """The store is unavailable. The reason is logged and not sent to the client."""

    detail = "The file storage is unavailable"
    cause = "The file storage (a folder or an S3 bucket) is unreachable or rejects the request."
    fix = (
        "Wait for the number of seconds in `Retry-After`, then send the request again."
        " Operators find the cause in the log."
    )

    def __init__(self, reason: str) -> None:
        super().__init__()
        log.warning("%s: %s", self.detail, reason)


class StoredFile(NamedTuple):
    """One file as a listing shows it; its age distinguishes an orphan from a new file."""

    name: str
    stored_at: datetime


class FileStore(Protocol):
    """Keeps bytes under names. Every method may raise `UnsafeName` and `StorageUnavailable`."""

    def put(self, name: str, data: bytes, content_type: str) -> None:
        """Store the whole file or nothing; a file of the same name is replaced."""

    def read(self, name: str) -> bytes:
        """Return the file's bytes, or raise `FileMissing`."""

    def delete(self, name: str) -> None:
        """Delete the file; a missing file is not an error."""

    def files(self) -> Iterator[StoredFile]:
        """Yield every stored file, in no particular order."""


class LargeFileStore(FileStore, Protocol):
    """A store that can also stream large files."""

    def put_from(self, name: str, file: IO[bytes], content_type: str) -> None:
        """Store the whole of an open file, from its beginning, or nothing."""

    def chunks(self, name: str) -> Iterator[bytes]:
        """Return the file in chunks; raise `FileMissing` at once, not with the first chunk."""


def checked_name(name: str) -> str:
    """Return the name, or raise `UnsafeName` unless it is the name of a single file."""
    if len(name) > _LONGEST_NAME or not _SAFE_NAME.fullmatch(name):
        raise UnsafeName(f"Not a file name this store takes: {name[:_LONGEST_NAME]!r}")
    return name


class MemoryFileStore:
    """Files that exist until the process ends."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[bytes, datetime]] = {}

    def put(self, name: str, data: bytes, content_type: str) -> None:
        self._files[checked_name(name)] = (data, datetime.now(UTC))

    def read(self, name: str) -> bytes:
        try:
            data, _ = self._files[checked_name(name)]
        except KeyError:
            raise FileMissing(name) from None
        return data

    def put_from(self, name: str, file: IO[bytes], content_type: str) -> None:
        file.seek(0)
        self.put(name, file.read(), content_type)

    def chunks(self, name: str) -> Iterator[bytes]:
        data = self.read(name)
        return (data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES))

    def delete(self, name: str) -> None:
        self._files.pop(checked_name(name), None)

    def files(self) -> Iterator[StoredFile]:
        for name, (_, stored_at) in list(self._files.items()):
            yield StoredFile(name, stored_at)
