"""Checks of file stores, and of the permissions of files."""

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
def _temporary_file(files: FileStore) -> Iterator[str]:
    """Store a file and delete it afterwards, which fails in a folder that is not writable."""
    name = f"doctor-{token_hex(8)}.txt"
    files.put(name, b"", "text/plain")
    try:
        yield name
    finally:
        files.delete(name)


def _store_error(check: str, error: Unavailable) -> Finding:
    reason = error.__cause__ or "see the log"
    text = f"{error.detail}: {reason}. Check that the store accepts writes, and its settings."
    return Finding(check, "fault", text)


def check_file_store() -> Iterator[Finding]:
    if Avatars not in current_frontdesk.services:
        return
    try:
        with _temporary_file(service(Avatars).files):
            pass
    except Unavailable as error:
        yield _store_error("file_store", error)


def check_private_files() -> Iterator[Finding]:
    """Find files and folders that an earlier version, or another program, created readable for
    other users."""
    for database in _databases():
        files = [database, *(Path(f"{database}{end}") for end in ("-wal", "-shm", "-journal"))]
        if exposed := [file for file in files if is_exposed(file)]:
            yield _exposed(exposed[0], f"chmod 600 {shlex.join(map(str, exposed))}")
    for folder in _folders():
        if is_exposed(folder):
            yield _exposed(folder, f"chmod -R go= {shlex.quote(str(folder))}")


def _exposed(path: Path, command: str) -> Finding:
    text = f"Other users of this machine can read {path}. Run `{command}`."
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
    """A data export must be private, and the bucket of profile pictures may be public."""
    context = current_frontdesk
    if (
        Exports not in context.services
        or context.settings.of(AuthSettings).ACCOUNT_EXPORTS == "off"
    ):
        return
    files = service(Exports).files
    try:
        with _temporary_file(files) as name:
            is_public = isinstance(files, S3FileStore) and files.is_open(name)
    except Unavailable as error:
        yield _store_error("export_store", error)
        return
    if is_public:
        text = (
            "The bucket of data exports is public, so anyone who knows the name of a file can"
            " download a user's data. Make the bucket private (profile pictures need no public"
            " bucket), or use a separate store for exports."
        )
        yield Finding("export_store", "fault", text)
