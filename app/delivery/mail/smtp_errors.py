"""Translates a mail server's errors: their cause, and the setting that is likely wrong.

A rejected sender must never be handled as a rejected receiver: one wrong setting would fail a whole
broadcast. Most servers check the client's name, its IP address and the sender only after the
receiver is named, and so reject the sender in the reply to the receiver.
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from typing import NamedTuple

from ..errors import DeliveryError, Refused, RefusedAtReceiver, SenderRefused, TryLater, Unreachable
from .settings import MailSettings

_ENHANCED = re.compile(r"[245]\.(\d{1,3}\.\d{1,3})\b")
_AUTH_CODES = (530, 534, 535, 538)
# Without an enhanced status, these codes are about the receiver's address.
_ADDRESS_CODES = (550, 551, 553)
# The enhanced statuses of a bad address or mailbox that are about the sender.
_SENDER_STATUSES = ("1.7", "1.8")


class Reply(NamedTuple):
    code: int
    text: str

    @classmethod
    def of(cls, code: int, text: bytes | str) -> Reply:
        decoded = text if isinstance(text, str) else text.decode("utf-8", "replace")
        return cls(code, " ".join(decoded.split()))

    @property
    def enhanced(self) -> str | None:
        """The enhanced status without its first digit: `1.1` of `5.1.1`."""
        found = _ENHANCED.match(self.text)
        return found[1] if found else None

    def __str__(self) -> str:
        return f"{self.code} {self.text}"


def reply_error(about: str, reply: Reply) -> DeliveryError:
    """Return the error for a rejected command about the sender, the receiver or the message."""
    text = f"{about}: {reply}"
    if _is_about_sender(about, reply):
        is_general = about != "receiver" or reply.enhanced in _SENDER_STATUSES
        error = SenderRefused if is_general else RefusedAtReceiver
        return error(f"The mail server refuses us, likely for {_setting(reply)}: {text}")
    if about == "sender":
        return Unreachable(f"The mail server accepts no email now: {text}")
    return Refused(text) if reply.code >= 500 else TryLater(text)


def _is_about_sender(about: str, reply: Reply) -> bool:
    if reply.code in _AUTH_CODES or reply.enhanced in _SENDER_STATUSES:
        return True
    if reply.code < 500:
        return False
    return about == "sender" or (about == "receiver" and not _is_about_address(reply))


def _is_about_address(reply: Reply) -> bool:
    if reply.enhanced is None:
        return reply.code in _ADDRESS_CODES
    return reply.enhanced.startswith(("1.", "2."))


def _setting(reply: Reply) -> str:
    """Return the settings to check. Replies are not standardized, so this is only a hint."""
    words = reply.text.lower()
    if "starttls" in words:
        return "MAIL_USE_TLS"
    if "helo" in words or "ehlo" in words:
        return "MAIL_LOCAL_HOSTNAME"
    if reply.code in _AUTH_CODES or "relay" in words or "authenticat" in words:
        return "MAIL_USERNAME and MAIL_PASSWORD"
    if "sender" in words or reply.enhanced in _SENDER_STATUSES:
        return "MAIL_DEFAULT_SENDER"
    return "MAIL_DEFAULT_SENDER, MAIL_LOCAL_HOSTNAME or MAIL_USERNAME"


def connection_error(error: Exception, mail: MailSettings) -> DeliveryError:
    """Return the error for a failed connection, or one that ended before the greeting."""
    where = f"{mail.server}:{mail.port}"
    if isinstance(error, (UnicodeError, socket.gaierror)):
        why = f"the name {mail.server} is not found; see MAIL_SERVER"
    elif isinstance(error, ConnectionRefusedError):
        why = f"nothing listens at {where}; see MAIL_SERVER and MAIL_PORT"
    elif isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_error(error, mail)
    elif isinstance(error, ssl.SSLError) and mail.use_ssl:
        why = f"{where} does not begin with TLS; use MAIL_USE_TLS in place of MAIL_USE_SSL"
    elif isinstance(error, smtplib.SMTPConnectError):
        return _greeting_error(Reply.of(error.smtp_code, error.smtp_error), where)
    elif isinstance(error, smtplib.SMTPServerDisconnected) and not mail.use_ssl:
        why = f"{where} does not greet: if it expects TLS at once (port 465), set MAIL_USE_SSL"
        if mail.use_tls:
            why += " in place of MAIL_USE_TLS"
    elif isinstance(error, TimeoutError):
        why = f"{where} does not answer; see MAIL_SERVER and MAIL_PORT, or a firewall between"
    else:
        why = f"{where}: {_describe(error)}"
    return Unreachable(f"The mail server cannot be reached: {why}")


def _greeting_error(reply: Reply, where: str) -> DeliveryError:
    if reply.code >= 500:
        return SenderRefused(f"The mail server refuses us as soon as we connect: {reply}")
    if reply.code < 400:
        return Unreachable(f"The service at {where} is not a mail server; see MAIL_PORT")
    return Unreachable(f"The mail server accepts no connections now: {reply}")


def session_error(error: Exception, mail: MailSettings) -> DeliveryError:
    """Return the error for a failure after the greeting: EHLO, STARTTLS, or authentication."""
    if isinstance(error, smtplib.SMTPHeloError) and error.smtp_code >= 500:
        reply = Reply.of(error.smtp_code, error.smtp_error)
        return SenderRefused(f"The mail server refuses our name (MAIL_LOCAL_HOSTNAME): {reply}")
    if isinstance(error, smtplib.SMTPAuthenticationError):
        reply = Reply.of(error.smtp_code, error.smtp_error)
        if reply.code < 500:
            return Unreachable(f"The mail server refuses to authenticate now: {reply}")
        settings = "MAIL_USERNAME or MAIL_PASSWORD"
        return SenderRefused(
            f"The mail server rejects the credentials; {settings} is wrong: {reply}"
        )
    if isinstance(error, UnicodeError):
        return SenderRefused("MAIL_USERNAME or MAIL_PASSWORD has characters beyond ASCII")
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_error(error, mail)
    if isinstance(error, smtplib.SMTPNotSupportedError):
        why = _missing_extension(error, mail)
    else:
        why = _describe(error)
    return Unreachable(f"The SMTP session cannot start: {why}")


def _missing_extension(error: smtplib.SMTPNotSupportedError, mail: MailSettings) -> str:
    where = f"{mail.server}:{mail.port}"
    if "STARTTLS" in str(error):
        return f"{where} offers no STARTTLS; see MAIL_USE_TLS and MAIL_PORT"
    if mail.use_tls or mail.use_ssl:
        return f"{where} offers no sign-in; see MAIL_PORT, or leave MAIL_USERNAME out"
    return f"{where} offers no sign-in without TLS; set MAIL_USE_TLS, or leave MAIL_USERNAME out"


# OpenSSL's numbers for certificate errors.
_EXPIRED = (9, 10)
_UNKNOWN_AUTHORITY = (2, 18, 19, 20, 21)
_WRONG_NAME = (62, 64)


def _certificate_error(error: ssl.SSLCertVerificationError, mail: MailSettings) -> Unreachable:
    if error.verify_code in _UNKNOWN_AUTHORITY:
        why = "is from an unknown authority; set SSL_CERT_FILE to the authority's"
    elif error.verify_code in _WRONG_NAME:
        why = f"is not for {mail.server}; see MAIL_SERVER"
    elif error.verify_code in _EXPIRED:
        why = "is expired, or not yet valid"
    else:
        why = f"is invalid: {error.verify_message}"
    return Unreachable(f"The mail server cannot be trusted: its certificate {why}")


def _describe(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return str(Reply.of(error.smtp_code, error.smtp_error))
    return str(error) or type(error).__name__


def lost_connection(error: Exception) -> Unreachable:
    return Unreachable(f"The connection to the mail server was lost: {_describe(error)}")
