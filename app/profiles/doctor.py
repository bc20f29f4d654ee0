"""Checks of the visibility of profiles, and of the store of profile pictures."""

from collections.abc import Iterator

from flask import current_app

from ..core.context import current_frontdesk, service
from ..core.doctor import Check, Finding
from ..core.errors import Unavailable
from ..core.extras import missing_extra
from ..storage.probe import find_exposed_files, store_error, temporary_file
from .avatars import Avatars
from .settings import ProfilesSettings


def check_profiles() -> Iterator[Finding]:
    if "profiles" not in current_frontdesk.mounted.names:
        return
    settings = current_frontdesk.settings.of(ProfilesSettings)
    is_open = settings.VISIBILITY == "everyone" and settings.PUBLIC_FIELDS is None
    if is_open and not current_app.debug:
        yield Finding(
            "profiles",
            "warning",
            "PROFILES__VISIBILITY is everyone, so any account can read all profiles with their"
            " phone numbers, addresses and birth dates. Set PROFILES__VISIBILITY to workspaces or"
            " private, or set PROFILES__PUBLIC_FIELDS.",
        )
    if command := missing_extra("avatars"):
        text = f"Avatars are rejected, because Pillow is not installed. Run `{command}`."
        yield Finding("profiles", "warning", text)


def check_private_pictures() -> Iterator[Finding]:
    yield from find_exposed_files(service(Avatars).files)


def check_file_store() -> Iterator[Finding]:
    try:
        with temporary_file(service(Avatars).files):
            pass
    except Unavailable as error:
        yield store_error("file_store", error)


CHECKS = (Check(check_profiles), Check(check_private_pictures), Check(check_file_store, "servers"))
