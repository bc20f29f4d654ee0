"""The e-mail channel: one connection for a batch, and what all its mails share made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from jinja2 import Template

from ..core.clock import Clock
from .channel import Send
from .mailer import Mailer
from .message import Email, Message, Receiver
from .templates import Templates

TEMPLATE = "notification.html"


@dataclass
class EmailChannel:
    mailer: Mailer
    templates: Templates
    # Where the mail leads to.
    link: str
    clock: Clock
    name: str = field(default="email", init=False)
    needs: str | None = field(default="email", init=False)

    def off(self) -> str | None:
        return self.mailer.off

    @contextmanager
    def open(self) -> Iterator[Send]:
        pages: dict[int, Pages] = {}
        moment = self.clock.now()
        with self.mailer.open() as sending:

            def send(
                message: Message, receiver: Receiver, key: str, before: Callable[[], None]
            ) -> None:
                page = pages.get(message.id)
                if page is None:
                    page = pages[message.id] = Pages(self.templates, message, self.link)
                email = page.to(receiver.email)
                letter = self.mailer.writer.write(email, moment, f"frontdesk.{key}")
                sending.send(letter, before)

            yield send


class Pages:
    """One message's text and HTML; what a template is given beside the receiver stays the same."""

    def __init__(self, templates: Templates, message: Message, link: str) -> None:
        name = message.template_file or TEMPLATE
        self._title = message.title
        self._html = templates.get(name)
        self._text: Template | None = templates.find(f"{name.rpartition('.')[0]}.txt")
        self._plain = f"{message.title}\n\n{message.message}\n\n{link}\n"
        self._context = {
            **message.context,
            "title": message.title,
            "message": message.message,
            "link": link,
        }

    def to(self, email: str) -> Email:
        text = self._text.render(self._context, email=email) if self._text else self._plain
        return Email(email, self._title, text, self._html.render(self._context, email=email))
