"""The mails that were written to a folder, where no server is set up that takes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import NamedTuple

from flask import current_app

from ...core.context import current_frontdesk
from ...core.errors import NotFound
from ...delivery.mail.base import Mailer
from ...delivery.mail.mailer import FolderMailer
from .near import is_near

# As the mailer calls them: nothing else in any folder has such a name.
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}-[0-9a-f]{8}\.eml", re.ASCII)
_LINK = re.compile(r"https?://[^\s<>\"']+")


class WrittenMail(NamedTuple):
    name: str
    to: str
    subject: str
    at: datetime
    text: str
    html: str

    @property
    def links(self) -> Sequence[str]:
        return list(dict.fromkeys(_LINK.findall(self.text)))


def is_written() -> bool:
    return folder() is not None


def folder() -> Path | None:
    """Development alone has one that anybody is shown: a recovery mail opens an account."""
    context = current_frontdesk
    mailer = context.get(Mailer) if context.has(Mailer) else None  # type: ignore[type-abstract]
    return mailer.folder if current_app.debug and isinstance(mailer, FolderMailer) else None


def opened() -> Path:
    """For the routes: as if there were none, for whoever does not sit here."""
    found = folder()
    if found is None or not is_near():
        raise NotFound
    return found


def names(of: Path) -> list[str]:
    """The newest first, as their names tell."""
    found = (path.name for path in of.glob("*.eml"))
    return sorted(filter(_NAME.fullmatch, found), reverse=True)


def count() -> int:
    found = folder()
    return len(names(found)) if found is not None else 0


def read(of: Path, name: str) -> WrittenMail:
    if not _NAME.fullmatch(name):
        raise NotFound
    try:
        data = (of / name).read_bytes()
    except FileNotFoundError:
        raise NotFound from None
    message = message_from_bytes(data, EmailMessage, policy=policy.default)
    return WrittenMail(
        name,
        str(message["To"] or ""),
        str(message["Subject"] or ""),
        datetime.strptime(name[:15], "%Y%m%dT%H%M%S").replace(tzinfo=UTC),
        _part(message, "plain"),
        _part(message, "html"),
    )


def _part(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    return str(part.get_content()) if part is not None else ""
