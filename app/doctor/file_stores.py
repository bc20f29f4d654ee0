"""What the doctor finds in where files are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex

from ..auth.settings import AuthSettings
from ..core.context import current_frontdesk, service
from ..core.errors import Unavailable
from ..exports.service import Exports
from ..profiles.avatars import Avatars
from ..storage import FileStore, S3FileStore
from .findings import Finding


@contextmanager
def _file_in(files: FileStore) -> Iterator[str]:
    """The name of one that goes in and out again: a folder may be there and not be writable."""
    name = f"doctor-{token_hex(8)}.txt"
    files.put(name, b"", "text/plain")
    try:
        yield name
    finally:
        files.delete(name)


def _reason(error: Unavailable) -> str:
    return f"{error.detail}: {error.__cause__ or 'the log says why'}"


def check_file_store() -> Iterator[Finding]:
    if Avatars not in current_frontdesk.services:
        return
    try:
        with _file_in(service(Avatars).files):
            pass
    except Unavailable as error:
        yield Finding(
            "file_store", "fault", f"{error.detail}: {error.__cause__ or 'the log says why'}"
        )


def check_export_store() -> Iterator[Finding]:
    """A zip holds all that is known of somebody, beside pictures that may be open to the world."""
    context = current_frontdesk
    if (
        Exports not in context.services
        or context.settings.of(AuthSettings).ACCOUNT_EXPORTS == "off"
    ):
        return
    files = service(Exports).files
    try:
        with _file_in(files) as name:
            is_open = isinstance(files, S3FileStore) and files.is_open(name)
    except Unavailable as error:
        yield Finding(
            "export_store", "fault", f"{error.detail}: {error.__cause__ or 'the log says why'}"
        )
        return
    if is_open:
        text = (
            "whoever knows its name is given an export, for the bucket is open to the world: close"
            " it (pictures need no open one), or give exports a store of their own"
        )
        yield Finding("export_store", "fault", text)
