"""What the doctor finds in where files are kept."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from ..auth.settings import AuthSettings
from ..core.context import current_frontdesk, service
from ..core.db.base import sqlite_path
from ..core.errors import Unavailable
from ..core.keystore import DatabaseKeystore
from ..core.process.folders import is_exposed
from ..delivery.mail.base import Mailer
from ..delivery.mail.mailer import FolderMailer
from ..exports.service import Exports
from ..profiles.avatars import Avatars
from ..storage import FileStore, LocalFileStore, S3FileStore
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


def check_private_files() -> Iterator[Finding]:
    """Files and folders that an earlier version, or another program, created for all to read."""
    for database in _databases():
        files = [database, *(Path(f"{database}{end}") for end in ("-wal", "-shm", "-journal"))]
        if wide := [file for file in files if is_exposed(file)]:
            yield _exposed(wide[0], f"chmod 600 {shlex.join(map(str, wide))}")
    for folder in _folders():
        if is_exposed(folder):
            yield _exposed(folder, f"chmod -R go= {shlex.quote(str(folder))}")


def _exposed(path: Path, command: str) -> Finding:
    text = f"{path} can be read by other users of the machine: run `{command}`"
    return Finding("private_files", "warning", text)


def _databases() -> Iterator[Path]:
    context = current_frontdesk
    # The database of an application that mounts Frontdesk is the application's.
    url = context.db.engine.url
    is_ours = context.owns_application and url.get_backend_name() == "sqlite"
    if is_ours and (path := sqlite_path(url)):
        yield path
    if isinstance(context.keystore, DatabaseKeystore) and (path := context.keystore.path()):
        yield path


def _folders() -> Iterator[Path]:
    context = current_frontdesk
    stores = [service(kind).files for kind in (Avatars, Exports) if kind in context.services]
    yield from (store.folder for store in stores if isinstance(store, LocalFileStore))
    mailer = context.services.get(Mailer)
    if isinstance(mailer, FolderMailer):
        yield mailer.folder


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
