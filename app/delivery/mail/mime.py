"""Serializes an email as bytes for SMTP.

The standard library's message classes take several milliseconds for each message, and the older of
them treat VT, FF, FS, GS, RS, NEL, LS and PS in a header as line breaks. Here these characters are
removed from header values.
"""

import binascii
import re
import secrets
from datetime import datetime
from email.header import Header
from email.utils import format_datetime, parseaddr
from functools import lru_cache
from typing import NamedTuple

from ..errors import Refused
from ..message import Email

# All characters that some library treats as a line break, and all other control characters.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_ADDRESS = re.compile(r"[^\s@<>()\[\],;:\"\\\x00-\x1f\x7f-\x9f]+@[^\s@<>()\[\],;:\"\\\x00-\x1f]+")
# Text that needs no encoding: printable ASCII in lines short enough for every server.
_PLAIN = re.compile(rb"(?:[\t\x20-\x7e]{0,990}\r\n)*")


class MimeMessage(NamedTuple):
    """A message with its envelope, ready to be sent."""

    sender: str
    to: str
    subject: str
    data: bytes
    # The email address is not ASCII: the server must support SMTPUTF8.
    utf8: bool = False
    message_id: str | None = None
    # The email that was rendered; None for a message that came complete.
    email: Email | None = None


def one_line(text: str) -> str:
    return _CONTROLS.sub(" ", text)


class Writer:
    """Writes messages from one sender: `Name <address>`, or the address alone."""

    def __init__(self, sender: str, reply_to: str | None = None) -> None:
        shown, self.sender = _mailbox(sender)
        self.domain = self.sender.rpartition("@")[2]
        head = f"From: {shown}\r\n"
        if reply_to is not None:
            head += f"Reply-To: {_mailbox(reply_to)[0]}\r\n"
        # With this header, out-of-office programs do not reply.
        self._head = f"{head}Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n".encode()

    def write(
        self,
        email: Email,
        moment: datetime,
        message_id: str | None = None,
        unsubscribe_url: str | None = None,
    ) -> MimeMessage:
        """Return the message. A repeated `message_id` marks a message that may be a duplicate; mail
        programs POST to `unsubscribe_url` (RFC 8058)."""
        to = to_ascii(email.to)
        message_id = f"<{message_id or secrets.token_hex(16)}@{self.domain}>"
        boundary = secrets.token_hex(16)
        head = (
            f"To: {to}\r\nDate: {_date(moment)}\r\nMessage-ID: {message_id}\r\n"
            f"Content-Type: multipart/alternative; boundary={boundary}\r\n"
        )
        if unsubscribe_url is not None:
            head += (
                f"List-Unsubscribe: <{unsubscribe_url}>\r\n"
                "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
            )
        data = b"".join(
            (
                _subject(email.subject),
                self._head,
                head.encode(),
                b"\r\n",
                _part(boundary, "plain", email.text),
                _part(boundary, "html", email.html) if email.html else b"",
                f"--{boundary}--\r\n".encode(),
            )
        )
        utf8 = not to.isascii()
        return MimeMessage(self.sender, to, email.subject, data, utf8, message_id, email)


def _mailbox(text: str) -> tuple[str, str]:
    """Return the mailbox as written in a header, and its address."""
    name, address = parseaddr(one_line(text))
    address = to_ascii(address)
    return (f"{_quoted(name)} <{address}>" if name else address), address


def to_ascii(address: str) -> str:
    """Return the address with its domain in ASCII and an unchanged local part."""
    if not _ADDRESS.fullmatch(address):
        raise Refused("The address is not a valid email address")
    if address.isascii():
        return address
    import idna

    local, _, domain = address.rpartition("@")
    try:
        return f"{local}@{idna.encode(domain, uts46=True).decode()}"
    except idna.IDNAError:
        raise Refused("The address has an invalid domain") from None


@lru_cache(maxsize=64)
def _subject(subject: str) -> bytes:
    return f"Subject: {_header(one_line(subject))}\r\n".encode()


def _header(text: str) -> str:
    # "=?" in plain text would be read as the beginning of an encoded word.
    if text.isascii() and "=?" not in text and len(text) < 900:
        return text
    return Header(text, "utf-8", maxlinelen=75).encode(linesep="\r\n")


def _quoted(name: str) -> str:
    if not name.isascii() or "=?" in name:
        return Header(name, "utf-8").encode(linesep="\r\n")
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


@lru_cache(maxsize=8)
def _date(moment: datetime) -> str:
    return format_datetime(moment)


def _part(boundary: str, kind: str, text: str) -> bytes:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")
    body = lines.encode("utf-8", "replace")
    if not body.endswith(b"\r\n"):
        body += b"\r\n"
    encoding = "7bit"
    if not _PLAIN.fullmatch(body):
        encoding, body = "quoted-printable", binascii.b2a_qp(body, istext=True)
    head = (
        f"--{boundary}\r\nContent-Type: text/{kind}; charset=utf-8\r\n"
        f"Content-Transfer-Encoding: {encoding}\r\n\r\n"
    )
    return head.encode() + body
