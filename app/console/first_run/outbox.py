"""Emails that were written to a folder, and the pages that show them on the same machine."""

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
from ...core.web.operation import anyone
from ...delivery.mail.base import Mailer
from ...delivery.mail.mailer import FolderMailer
from ..pages import render_framed, render_page

# Headers of proxies and tunnels, which forward requests of other machines.
_PROXY_HEADERS = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")


def is_local_request() -> bool:
    """Return whether the request is from this machine and for its own name.

    The host name is checked because of DNS rebinding: another site's name may resolve to this
    machine, and its pages could then read the responses.
    """
    if any(name in request.headers for name in _PROXY_HEADERS):
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


# The file names of the mailer, which no other files have.
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}-[0-9a-f]{8}\.eml", re.ASCII)
_LINK = re.compile(r"https?://[^\s<>\"']+")


class WrittenEmail(NamedTuple):
    name: str
    to: str
    subject: str
    at: datetime
    text: str
    html: str

    @property
    def links(self) -> Sequence[str]:
        return list(dict.fromkeys(_LINK.findall(self.text)))


def has_outbox() -> bool:
    return outbox_folder() is not None


def outbox_folder() -> Path | None:
    """Return the folder in debug mode, else None: a password reset email gives access to an
    account."""
    context = current_frontdesk
    mailer = context.get(Mailer) if context.has(Mailer) else None  # type: ignore[type-abstract]
    return mailer.folder if current_app.debug and isinstance(mailer, FolderMailer) else None


def require_outbox() -> Path:
    """Return the folder, or raise NotFound for requests from other machines."""
    found = outbox_folder()
    if found is None or not is_local_request():
        raise NotFound
    return found


def email_names(folder: Path) -> list[str]:
    """Return the names, newest first; they start with the time."""
    found = (path.name for path in folder.glob("*.eml"))
    return sorted(filter(_NAME.fullmatch, found), reverse=True)


def count_emails() -> int:
    found = outbox_folder()
    return len(email_names(found)) if found is not None else 0


def read_email(folder: Path, name: str) -> WrittenEmail:
    if not _NAME.fullmatch(name):
        raise NotFound
    try:
        data = (folder / name).read_bytes()
    except FileNotFoundError:
        raise NotFound from None
    message = message_from_bytes(data, EmailMessage, policy=policy.default)
    return WrittenEmail(
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
def mails_page() -> Response:
    folder = require_outbox()
    found = email_names(folder)
    start = max(request.args.get("from", 0, type=int), 0)
    shown = [read_email(folder, name) for name in found[start : start + PER_PAGE]]
    return render_page(
        "first_run/mails.html", mails=shown, start=start, total=len(found), step=PER_PAGE
    )


@anyone
def mail_page(name: str) -> Response:
    return render_page("first_run/mail.html", mail=read_email(require_outbox(), name))


@anyone
def mail_html(name: str) -> Response:
    return render_framed(read_email(require_outbox(), name).html)
