"""The meaning of a mail server's errors: who can fix them, and which setting is likely wrong.

A refusal that is about us must never be taken for a receiver's: a whole broadcast would be lost to
one wrong setting. Most servers say at the receiver what they have against the client's name, its
address or its sender, because they wait for the receiver before they refuse anything.
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from typing import NamedTuple

from ..errors import (
    DeliveryError,
    Refused,
    RefusedAtReceiver,
    SenderRefused,
    TryLater,
    Unreachable,
)
from .settings import MailSettings

_ENHANCED = re.compile(r"[245]\.(\d{1,3}\.\d{1,3})\b")
_NO_LOGIN = (530, 534, 535, 538)
# What these say without an enhanced status is said of a receiver's address.
_OF_AN_ADDRESS = (550, 551, 553)
# Bad address, or bad mailbox, of the sender: the only ones of their kind that are not a receiver's.
_OF_THE_SENDER = ("1.7", "1.8")


class Reply(NamedTuple):
    code: int
    text: str

    @classmethod
    def of(cls, code: int, text: bytes | str) -> Reply:
        said = text if isinstance(text, str) else text.decode("utf-8", "replace")
        return cls(code, " ".join(said.split()))

    @property
    def enhanced(self) -> str | None:
        """The enhanced status without its first digit: `1.1` of `5.1.1`."""
        found = _ENHANCED.match(self.text)
        return found[1] if found else None

    def __str__(self) -> str:
        return f"{self.code} {self.text}"


def refusal(about: str, reply: Reply) -> DeliveryError:
    """What a refused command means; it was about the sender, the receiver or the message."""
    text = f"{about}: {reply}"
    if _is_about_us(about, reply):
        of_all = about != "receiver" or reply.enhanced in _OF_THE_SENDER
        kind = SenderRefused if of_all else RefusedAtReceiver
        return kind(f"The mail server refuses us, likely for {_setting(reply)}: {text}")
    if about == "sender":
        return Unreachable(f"The mail server accepts no email now: {text}")
    return Refused(text) if reply.code >= 500 else TryLater(text)


def _is_about_us(about: str, reply: Reply) -> bool:
    if reply.code in _NO_LOGIN or reply.enhanced in _OF_THE_SENDER:
        return True
    if reply.code < 500:
        return False
    return about == "sender" or (about == "receiver" and not _names_an_address(reply))


def _names_an_address(reply: Reply) -> bool:
    if reply.enhanced is None:
        return reply.code in _OF_AN_ADDRESS
    return reply.enhanced.startswith(("1.", "2."))


def _setting(reply: Reply) -> str:
    """What servers say is not standardised; their words are good for a hint and for no more."""
    words = reply.text.lower()
    if "starttls" in words:
        return "MAIL_USE_TLS"
    if "helo" in words or "ehlo" in words:
        return "MAIL_LOCAL_HOSTNAME"
    if reply.code in _NO_LOGIN or "relay" in words or "authenticat" in words:
        return "MAIL_USERNAME and MAIL_PASSWORD"
    if "sender" in words or reply.enhanced in _OF_THE_SENDER:
        return "MAIL_DEFAULT_SENDER"
    return "MAIL_DEFAULT_SENDER, MAIL_LOCAL_HOSTNAME or MAIL_USERNAME"


def not_connected(error: Exception, mail: MailSettings) -> DeliveryError:
    """Why there is no connection, or why it ended before the server greeted us."""
    where = f"{mail.server}:{mail.port}"
    if isinstance(error, (UnicodeError, socket.gaierror)):
        why = f"the name {mail.server} is not found; see MAIL_SERVER"
    elif isinstance(error, ConnectionRefusedError):
        why = f"nothing listens at {where}; see MAIL_SERVER and MAIL_PORT"
    elif isinstance(error, ssl.SSLCertVerificationError):
        return _not_trusted(error, mail)
    elif isinstance(error, ssl.SSLError) and mail.use_ssl:
        why = f"{where} does not begin with TLS; use MAIL_USE_TLS in place of MAIL_USE_SSL"
    elif isinstance(error, smtplib.SMTPConnectError):
        return _not_greeted(Reply.of(error.smtp_code, error.smtp_error), where)
    elif isinstance(error, smtplib.SMTPServerDisconnected) and not mail.use_ssl:
        why = f"{where} does not greet: if it expects TLS at once (port 465), set MAIL_USE_SSL"
        if mail.use_tls:
            why += " in place of MAIL_USE_TLS"
    elif isinstance(error, TimeoutError):
        why = f"{where} does not answer; see MAIL_SERVER and MAIL_PORT, or a firewall between"
    else:
        why = f"{where}: {_told(error)}"
    return Unreachable(f"The mail server cannot be reached: {why}")


def _not_greeted(reply: Reply, where: str) -> DeliveryError:
    if reply.code >= 500:
        return SenderRefused(f"The mail server refuses us as soon as we connect: {reply}")
    if reply.code < 400:
        return Unreachable(f"What listens at {where} is no mail server; see MAIL_PORT")
    return Unreachable(f"The mail server accepts no connections now: {reply}")


def not_let_in(error: Exception, mail: MailSettings) -> DeliveryError:
    """Why a server that has greeted us goes no further: the name, STARTTLS, or the sign-in."""
    if isinstance(error, smtplib.SMTPHeloError) and error.smtp_code >= 500:
        reply = Reply.of(error.smtp_code, error.smtp_error)
        return SenderRefused(f"The mail server refuses our name (MAIL_LOCAL_HOSTNAME): {reply}")
    if isinstance(error, smtplib.SMTPAuthenticationError):
        reply = Reply.of(error.smtp_code, error.smtp_error)
        if reply.code < 500:
            return Unreachable(f"The mail server refuses to authenticate now: {reply}")
        settings = "MAIL_USERNAME or MAIL_PASSWORD"
        return SenderRefused(f"The mail server does not sign us in; {settings} is wrong: {reply}")
    if isinstance(error, UnicodeError):
        return SenderRefused("MAIL_USERNAME or MAIL_PASSWORD has characters beyond ASCII")
    if isinstance(error, ssl.SSLCertVerificationError):
        return _not_trusted(error, mail)
    if isinstance(error, smtplib.SMTPNotSupportedError):
        why = _not_offered(error, mail)
    else:
        why = _told(error)
    return Unreachable(f"The mail server does not let us in: {why}")


def _not_offered(error: smtplib.SMTPNotSupportedError, mail: MailSettings) -> str:
    where = f"{mail.server}:{mail.port}"
    if "STARTTLS" in str(error):
        return f"{where} offers no STARTTLS; see MAIL_USE_TLS and MAIL_PORT"
    if mail.use_tls or mail.use_ssl:
        return f"{where} offers no sign-in; see MAIL_PORT, or leave MAIL_USERNAME out"
    return f"{where} offers no sign-in without TLS; set MAIL_USE_TLS, or leave MAIL_USERNAME out"


# OpenSSL's numbers for certificate errors.
_EXPIRED = (9, 10)
_UNKNOWN_AUTHORITY = (2, 18, 19, 20, 21)
_ANOTHER_NAME = (62, 64)


def _not_trusted(error: ssl.SSLCertVerificationError, mail: MailSettings) -> Unreachable:
    if error.verify_code in _UNKNOWN_AUTHORITY:
        why = "is of an unknown authority; name the authority's in SSL_CERT_FILE"
    elif error.verify_code in _ANOTHER_NAME:
        why = f"is not for {mail.server}; see MAIL_SERVER"
    elif error.verify_code in _EXPIRED:
        why = "is expired, or not yet valid"
    else:
        why = f"is not good: {error.verify_message}"
    return Unreachable(f"The mail server cannot be trusted: its certificate {why}")


def _told(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return str(Reply.of(error.smtp_code, error.smtp_error))
    return str(error) or type(error).__name__


def gone(error: Exception) -> Unreachable:
    return Unreachable(f"The mail server went away: {_told(error)}")
