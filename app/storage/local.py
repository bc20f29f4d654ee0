"""Files in a folder of this machine."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import IO

from ..core.process.folders import make_private_folder, private
from .files import CHUNK_BYTES, FileMissing, StorageUnavailable, StoredFile, checked_name


class LocalFileStore:
    """Stores files in one folder, which is created with the first file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, data: bytes, content_type: str) -> None:
        self.put_from(name, BytesIO(data), content_type)

    def put_from(self, name: str, file: IO[bytes], content_type: str) -> None:
        """Write a temporary file and rename it, so that no reader sees a part of it.

        The half-written file has an ordinary name: if the process dies here, a listing shows the
        remains, and they are cleaned up as any orphan is.
        """
        target = self.folder / checked_name(name)
        part = self.folder / f"{name}.{secrets.token_hex(8)}.part"
        with _storage_errors():
            make_private_folder(self.folder)
            try:
                _write_through(part, file)
                part.replace(target)
            except BaseException:
                part.unlink(missing_ok=True)
                raise

    def read(self, name: str) -> bytes:
        path = self.folder / checked_name(name)
        with _storage_errors():
            try:
                return path.read_bytes()
            except FileNotFoundError:
                raise FileMissing(name) from None

    def chunks(self, name: str) -> Iterator[bytes]:
        path = self.folder / checked_name(name)
        with _storage_errors():
            try:
                file = path.open("rb")
            except FileNotFoundError:
                raise FileMissing(name) from None
        return _pieces(file)

    def delete(self, name: str) -> None:
        path = self.folder / checked_name(name)
        with _storage_errors():
            path.unlink(missing_ok=True)

    def files(self) -> Iterator[StoredFile]:
        with _storage_errors():
            if not self.folder.is_dir():
                return
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if (found := _stored_file(entry)) is not None:
                        yield found


def _write_through(path: Path, source: IO[bytes]) -> None:
    # Without the fsync a power cut after the rename could leave an empty file under the final name.
    source.seek(0)
    with open(path, "xb", opener=private) as file:
        shutil.copyfileobj(source, file, CHUNK_BYTES)
        file.flush()
        os.fsync(file.fileno())


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file, _storage_errors():
        while piece := file.read(CHUNK_BYTES):
            yield piece


def _stored_file(entry: os.DirEntry[str]) -> StoredFile | None:
    if entry.name.startswith(".") or not entry.is_file(follow_symlinks=False):
        return None
    try:
        changed = entry.stat(follow_symlinks=False).st_mtime
    except FileNotFoundError:  # deleted while the folder was being read
        return None
    return StoredFile(entry.name, datetime.fromtimestamp(changed, UTC))


@contextmanager
def _storage_errors() -> Iterator[None]:
    """Convert errors of the file system (disk full, no permission) to StorageUnavailable."""
    try:
        yield
    except OSError as error:
        raise StorageUnavailable(f"the folder cannot be used: {error.strerror}") from error
