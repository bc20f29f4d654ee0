"""Checks of the store of data exports."""

from collections.abc import Iterator

from ..auth.settings import AuthSettings
from ..core.context import current_frontdesk, service
from ..core.doctor import Check, Finding
from ..core.errors import Unavailable
from ..storage.probe import find_exposed_files, store_error, temporary_file
from ..storage.s3 import S3FileStore
from .service import Exports


def check_private_exports() -> Iterator[Finding]:
    yield from find_exposed_files(service(Exports).files)


def check_export_store() -> Iterator[Finding]:
    """A data export must be private, and the bucket of profile pictures may be public."""
    if current_frontdesk.settings.of(AuthSettings).ACCOUNT_EXPORTS == "off":
        return
    files = service(Exports).files
    try:
        with temporary_file(files) as name:
            is_public = isinstance(files, S3FileStore) and files.is_open(name)
    except Unavailable as error:
        yield store_error("export_store", error)
        return
    if is_public:
        text = (
            "The bucket of data exports is public, so anyone who knows the name of a file can"
            " download a user's data. Make the bucket private (profile pictures need no public"
            " bucket), or use a separate store for exports."
        )
        yield Finding("export_store", "fault", text)


CHECKS = (Check(check_private_exports), Check(check_export_store, "servers"))
