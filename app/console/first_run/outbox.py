"""Emails that were written to a folder, and pages that show them to who sits at the machine."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from flask import Response, current_app, request

from ...core.context import current_frontdesk
from ...core.errors import NotFound
from ...core.web.operation import anyone, hidden
from ...delivery.mail.base import Mailer
from ...delivery.mail.mailer import FolderMailer
from ..pages import framed, page

# A proxy or a tunnel in front brings strangers to this address.
_PASSED_ON = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")


def is_near() -> bool:
    """By the machine's own name too: a strange name may lead to this address as well, and its pages
    would read what they are answered."""
    if any(name in request.headers for name in _PASSED_ON):
        return False
    try:
        host = urlsplit(f"//{request.environ.get('HTTP_HOST', '')}").hostname or ""
    except ValueError:
        return False
    return _is_loopback(request.remote_addr or "") and (host == "localhost" or _is_loopback(host))


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


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


def open_outbox() -> Path:
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


PER_PAGE = 25


@anyone
@hidden
def mails_page() -> Response:
    folder = open_outbox()
    found = names(folder)
    start = max(request.args.get("from", 0, type=int), 0)
    shown = [read(folder, name) for name in found[start : start + PER_PAGE]]
    return page("first_run/mails.html", mails=shown, start=start, total=len(found), step=PER_PAGE)


@anyone
@hidden
def mail_page(name: str) -> Response:
    return page("first_run/mail.html", mail=read(open_outbox(), name))


@anyone
@hidden
def mail_html(name: str) -> Response:
    return framed(read(open_outbox(), name).html)
