"""An account's profile and avatar in its data export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import select

from ..core.data_export import DataSubject, Reading
from ..storage import FileMissing, FileStore
from .models import PROPERTIES, Profile


def export_profile(
    files: FileStore, subject: DataSubject, reading: Reading
) -> Iterator[tuple[str, Any]]:
    if not reading.has(Profile):
        return
    profiles = select(Profile.__table__).where(Profile.account_id == subject.id)
    for row in reading.rows(profiles):
        properties = {name: row[name] for name in sorted(PROPERTIES)}
        yield "profile.json", {**row["extra"], **properties}
        if (name := row["avatar_file"]) is not None:
            try:
                avatar = files.read(name)
            except FileMissing:
                continue
            yield f"avatar.{name.rpartition('.')[2]}", avatar
