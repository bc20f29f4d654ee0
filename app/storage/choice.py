"""Which store the settings ask for."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ..core.environment import SettingsError
from ..core.settings import ProfilesSettings, reveal
from .files import FileStore
from .local import LocalFileStore
from .s3 import S3Bucket, S3FileStore


def open_file_store(settings: ProfilesSettings, instance_folder: Path) -> FileStore:
    """The folder is taken to lie under `instance/`, as SQLite's file is."""
    if settings.AVATAR_STORAGE == "local":
        return LocalFileStore(instance_folder / settings.AVATAR_FOLDER)
    if not settings.AVATAR_S3_BUCKET:
        raise SettingsError("Wrong settings: PROFILES__AVATAR_S3_BUCKET: must be set with s3")
    if find_spec("boto3") is None:
        raise SettingsError(
            "PROFILES__AVATAR_STORAGE is s3: install boto3, as flask-frontdesk[s3] does."
        )
    return S3FileStore(
        S3Bucket(
            settings.AVATAR_S3_BUCKET,
            settings.AVATAR_S3_ENDPOINT_URL or None,
            settings.AVATAR_S3_REGION or None,
            reveal(settings.AVATAR_S3_ACCESS_KEY) or None,
            reveal(settings.AVATAR_S3_SECRET_KEY) or None,
            settings.AVATAR_S3_PREFIX,
        )
    )
