"""Files in memory, for tests and for applications that store no files."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO

from .files import CHUNK_BYTES, FileMissing, StoredFile, checked_name


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
