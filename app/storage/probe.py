"""What the checks of several file stores share."""

from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex

from ..core.doctor import Finding, find_exposed_folder
from ..core.errors import Unavailable
from .files import FileStore
from .local import LocalFileStore


@contextmanager
def temporary_file(files: FileStore) -> Iterator[str]:
    """Store a file and delete it afterwards, which fails in a folder that is not writable."""
    name = f"doctor-{token_hex(8)}.txt"
    files.put(name, b"", "text/plain")
    try:
        yield name
    finally:
        files.delete(name)


def store_error(check: str, error: Unavailable) -> Finding:
    reason = error.__cause__ or "see the log"
    text = f"{error.detail}: {reason}. Check that the store accepts writes, and its settings."
    return Finding(check, "fault", text)


def find_exposed_files(files: FileStore) -> Iterator[Finding]:
    if isinstance(files, LocalFileStore):
        yield from find_exposed_folder(files.folder)
