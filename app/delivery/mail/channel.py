"""The e-mail channel: one connection for a batch, and what all its mails share made once."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from jinja2 import Template
from markupsafe import escape

from ...core.clock import Clock
from ..channel import AddressBook, Send
from ..message import Email, Receiver, StoredMessage
from .base import Mailer
from .markup import linked
from .message_ids import MessageIds
from .templates import LAYOUT, Templates, text_of

TEMPLATE = "notification.html"
# Stands for a receiver's address; no message has it.
_ADDRESS = secrets.token_hex(16)


@dataclass
class EmailChannel:
    mailer: Mailer
    templates: Templates
    # Where the mail leads to.
    link: str
    clock: Clock
    address_book: AddressBook[Receiver]
    message_ids: MessageIds
    name: str = field(default="email", init=False)

    def off(self) -> str | None:
        return self.mailer.off

    @contextmanager
    def open(self) -> Iterator[Send]:
        pages: dict[int, Pages] = {}
        moment = self.clock.now()
        with self.mailer.open() as connection:

            def send(
                message: StoredMessage, receiver: Receiver, key: str, before: Callable[[], None]
            ) -> None:
                page = pages.get(message.id)
                if page is None:
                    page = pages[message.id] = Pages(self.templates, message, self.link)
                email = page.to(receiver.email)
                letter = self.mailer.writer.write(email, moment, self.message_ids.derive(key))
                connection.send(letter, before)

            yield send


class Pages:
    """One message's text and HTML. Only the receiver differs between the renderings of a
    template."""

    def __init__(self, templates: Templates, message: StoredMessage, link: str) -> None:
        name = message.template_file or TEMPLATE
        self._title = message.title
        self._html = templates.get(name)
        self._text: Template | None = templates.find(f"{name.rpartition('.')[0]}.txt")
        # Our own template says no more than this, which costs nothing for each receiver.
        self._plain: str | None = None
        if message.template_file is None:
            parts = (message.title, message.message, link, templates.brand.text)
            self._plain = "\n\n".join(each for each in parts if each) + "\n"
        self._context = {
            **message.context,
            "title": message.title,
            "message": message.message,
            "message_html": linked(message.message),
            "link": link,
            "brand": templates.brand,
        }
        # Ours shows the receiver's address and makes nothing else of it, so once does for all.
        self._for_all: str | None = None
        if templates.are_ours(name, LAYOUT):
            self._for_all = self._html.render(self._context, email=_ADDRESS)

    def to(self, email: str) -> Email:
        if self._for_all is not None:
            html = self._for_all.replace(_ADDRESS, escape(email))
        else:
            html = self._html.render(self._context, email=email)
        if self._text is not None:
            text = self._text.render(self._context, email=email)
        else:
            text = self._plain or text_of(html)
        return Email(email, self._title, text, html)
