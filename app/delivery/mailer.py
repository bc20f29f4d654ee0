"""Where letters go: to an SMTP server, to a folder of `.eml` files, or nowhere."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formataddr
from pathlib import Path
from typing import Annotated, Any, Protocol

from flask import Flask
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ..core.environment import SettingsError, wrong_settings
from ..core.settings import Namespaces, reveal
from .errors import Refused, SwitchedOff
from .mime import Letter, Writer, one_line

log = logging.getLogger(__name__)

DEFAULT_SENDER = "frontdesk@localhost"


def _sender(given: Any) -> Any:
    if not isinstance(given, (tuple, list)):
        return given
    try:
        name, address = given
        return formataddr((one_line(name or ""), address))
    except (AttributeError, TypeError, ValueError):
        raise ValueError("must be an address, or a name and an address") from None


class _Given(BaseModel):
    """Flask-Mail's names and meanings."""

    model_config = ConfigDict(hide_input_in_errors=True)

    MAIL_SERVER: str = ""
    MAIL_PORT: int = Field(25, ge=1, le=65535)
    MAIL_USE_TLS: bool = False
    MAIL_USE_SSL: bool = False
    MAIL_USERNAME: str | None = None
    MAIL_PASSWORD: str | None = Field(None, repr=False)
    MAIL_DEFAULT_SENDER: Annotated[str, BeforeValidator(_sender)] = DEFAULT_SENDER
    MAIL_SUPPRESS_SEND: bool = False


@dataclass(frozen=True)
class MailSettings:
    """From the host's `app.config` or from the settings."""

    server: str = ""
    port: int = 25
    use_tls: bool = False
    use_ssl: bool = False
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    sender: str = DEFAULT_SENDER
    enabled: bool = True

    @classmethod
    def read(cls, config: Mapping[str, Any], settings: Namespaces) -> MailSettings:
        found = {
            name: reveal(config.get(name, settings.top_level(name))) for name in _Given.model_fields
        }
        try:
            # What is empty counts as not given.
            given = _Given(**{name: value for name, value in found.items() if value})
        except ValidationError as error:
            raise wrong_settings(error) from None
        return cls(
            server=given.MAIL_SERVER,
            port=given.MAIL_PORT,
            use_tls=given.MAIL_USE_TLS,
            use_ssl=given.MAIL_USE_SSL,
            username=given.MAIL_USERNAME,
            password=given.MAIL_PASSWORD,
            sender=given.MAIL_DEFAULT_SENDER,
            enabled=settings.core.EMAILS_ENABLED and not given.MAIL_SUPPRESS_SEND,
        )


Before = Callable[[], None]


def nothing() -> None:
    return None


class Sending(Protocol):
    """An open way to send, for one letter after the other."""

    def send(self, letter: Letter, before: Before = nothing) -> None:
        """Returns when it has left; raises one of errors.py when it has not.

        `before` is called before the letter is out of our hands, and again if it is begun anew.
        """


class Mailer(Protocol):
    writer: Writer
    # Says why nothing can leave this way, or nothing.
    off: str | None

    def open(self) -> Any:
        """A context manager that yields a `Sending`."""


def open_mailer(app: Flask, settings: Namespaces) -> Mailer:
    mail = MailSettings.read(app.config, settings)
    try:
        Writer(mail.sender)
    except Refused:
        raise SettingsError("MAIL_DEFAULT_SENDER is not an address that a mail can have.") from None
    if not mail.enabled:
        return NoMailer(mail.sender)
    if not mail.server:
        return OutboxMailer(mail.sender, Path(app.instance_path) / "outbox")
    from .smtp import SmtpMailer

    return SmtpMailer(mail)


class NoMailer:
    off: str | None = "Mails are switched off"

    def __init__(self, sender: str) -> None:
        self.writer = Writer(sender)

    @contextmanager
    def open(self) -> Iterator[NoMailer]:
        yield self

    def send(self, letter: Letter, before: Before = nothing) -> None:
        log.warning(
            "Mails are switched off (CORE.EMAILS_ENABLED): none leaves to %s, '%s'.",
            letter.to,
            one_line(letter.subject),
        )
        raise SwitchedOff("Mails are switched off")


class OutboxMailer:
    """No server is configured: every letter becomes a file that a mail program opens."""

    off: str | None = None

    def __init__(self, sender: str, folder: Path) -> None:
        self.writer = Writer(sender)
        self.folder = folder

    @contextmanager
    def open(self) -> Iterator[OutboxMailer]:
        self.folder.mkdir(parents=True, exist_ok=True)
        yield self

    def send(self, letter: Letter, before: Before = nothing) -> None:
        before()
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{secrets.token_hex(4)}.eml"
        path = self.folder / name
        unfinished = path.with_suffix(".part")
        # For the owner's eyes only: a recovery mail opens an account.
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(letter.data)
        unfinished.rename(path)
        log.info(
            "No MAIL_SERVER is set: the mail to %s, '%s', is in %s",
            letter.to,
            one_line(letter.subject),
            path,
        )
