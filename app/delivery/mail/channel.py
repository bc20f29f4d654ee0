"""The email channel. A batch uses one connection and renders each message once if possible."""

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
# A placeholder for the receiver's address, too random to occur in a message.
_PLACEHOLDER = secrets.token_hex(16)


@dataclass
class EmailChannel:
    mailer: Mailer
    templates: Templates
    # The URL of the link in notification emails.
    link: str
    clock: Clock
    address_book: AddressBook[Receiver]
    message_ids: MessageIds
    name: str = field(default="email", init=False)

    def disabled_reason(self) -> str | None:
        return self.mailer.disabled_reason

    @contextmanager
    def open(self) -> Iterator[Send]:
        renderers: dict[int, EmailRenderer] = {}
        moment = self.clock.now()
        with self.mailer.open() as connection:

            def send(
                message: StoredMessage,
                receiver: Receiver,
                key: str,
                before_send: Callable[[], None],
            ) -> None:
                renderer = renderers.get(message.id)
                if renderer is None:
                    renderer = EmailRenderer(self.templates, message, self.link)
                    renderers[message.id] = renderer
                email = renderer.render(receiver.email)
                mime = self.mailer.writer.write(email, moment, self.message_ids.derive(key))
                connection.send(mime, before_send)

            yield send


class EmailRenderer:
    """Renders one message for many receivers. Only the receiver's address differs."""

    def __init__(self, templates: Templates, message: StoredMessage, link: str) -> None:
        name = message.template_file or TEMPLATE
        self._title = message.title
        self._html = templates.get(name)
        self._text: Template | None = templates.find(f"{name.rpartition('.')[0]}.txt")
        # The text of the default template, which needs no rendering for each receiver.
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
        # The default template only shows the receiver's address, so it is rendered once.
        self._shared_html: str | None = None
        if templates.are_built_in(name, LAYOUT):
            self._shared_html = self._html.render(self._context, email=_PLACEHOLDER)

    def render(self, email: str) -> Email:
        if self._shared_html is not None:
            html = self._shared_html.replace(_PLACEHOLDER, escape(email))
        else:
            html = self._html.render(self._context, email=email)
        if self._text is not None:
            text = self._text.render(self._context, email=email)
        else:
            text = self._plain or text_of(html)
        return Email(email, self._title, text, html)
