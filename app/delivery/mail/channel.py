"""The email channel. A batch uses one connection and renders each message once if possible."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from jinja2 import Template
from markupsafe import escape

from ...core.clock import Clock
from ...core.translations import ENGLISH, mark
from ..channel import AddressBook, RecipientChoices, Send
from ..message import EMAIL, Email, Receiver, StoredMessage
from ..personal import FieldValues, MarkedMessage
from .base import Mailer
from .markup import linked
from .message_ids import MessageIds
from .templates import LAYOUT, Templates, text_of

TEMPLATE = "notification.html"
PREFERENCES = mark("Choose which emails you get: {link}")
# A placeholder for the receiver's address, too random to occur in a message.
_PLACEHOLDER = secrets.token_hex(16)


@dataclass
class EmailChannel:
    mailer: Mailer
    templates: Templates
    # Returns the link of a message with this URL; without one, the link depends on what is mounted
    # after the start.
    link: Callable[[str | None], str]
    clock: Clock
    address_book: AddressBook[Receiver]
    message_ids: MessageIds
    choices: RecipientChoices

    name = EMAIL

    def disabled_reason(self) -> str | None:
        return self.mailer.disabled_reason

    @contextmanager
    def open(self) -> Iterator[Send]:
        renderers: dict[tuple[int, str], EmailRenderer] = {}
        moment = self.clock.now()
        with self.mailer.open() as connection:

            def send(
                message: StoredMessage,
                receiver: Receiver,
                key: str,
                before_send: Callable[[], None],
            ) -> None:
                language = self.templates.language_for(receiver.locale)
                renderer = renderers.get((message.id, language))
                if renderer is None:
                    renderer = self.make_renderer(message, language)
                    renderers[message.id, language] = renderer
                email = renderer.render(receiver.email, message.values)
                unsubscribe = self.choices.unsubscribe_url(receiver.id, message.kind, self.name)
                message_id = self.message_ids.derive(key)
                mime = self.mailer.writer.write(email, moment, message_id, unsubscribe)
                connection.send(mime, before_send)

            yield send

    def make_renderer(self, message: StoredMessage, language: str) -> EmailRenderer:
        link, preferences = self.link(message.url), self.choices.preferences_url(message.kind)
        return EmailRenderer(self.templates, message, link, language, preferences)


class EmailRenderer:
    """Renders one message for many receivers of one language. Only their addresses differ."""

    def __init__(
        self,
        templates: Templates,
        message: StoredMessage,
        link: str,
        language: str = ENGLISH,
        preferences_link: str | None = None,
    ) -> None:
        name = message.template_file or TEMPLATE
        self._marked = MarkedMessage(message) if message.is_personal else None
        if self._marked is not None:
            message = replace(message, title=self._marked.title, message=self._marked.message)
        self._title = message.title
        self._html = templates.get(name)
        self._text: Template | None = templates.find(f"{name.rpartition('.')[0]}.txt")
        # The text of the default template, which needs no rendering for each receiver.
        self._plain: str | None = None
        if message.template_file is None:
            translate = templates.translator(language)
            choose = preferences_link and translate(PREFERENCES, link=preferences_link)
            end = templates.brand.text(translate)
            parts = (message.title, message.message, link, choose, end)
            self._plain = "\n\n".join(each for each in parts if each) + "\n"
        self._context = {
            **message.context,
            "title": message.title,
            "message": message.message,
            "message_html": linked(message.message),
            "data": message.data or {},
            "link": link,
            "preferences_link": preferences_link,
            "brand": templates.brand,
        }
        self._html_texts = templates.texts(language, is_html=True)
        self._plain_texts = templates.texts(language, is_html=False)
        # The default template only shows the receiver's address, so it is rendered once.
        self._shared_html: str | None = None
        if templates.are_built_in(name, LAYOUT):
            self._shared_html = self._html.render(
                self._context, **self._html_texts, email=_PLACEHOLDER
            )

    def render(self, email: str, values: FieldValues | None = None) -> Email:
        """Return the email to this address, with the values of the message's personal fields."""
        if self._shared_html is not None:
            html = self._shared_html.replace(_PLACEHOLDER, escape(email))
        else:
            html = self._html.render(self._context, **self._html_texts, email=email)
        if self._text is not None:
            text = self._text.render(self._context, **self._plain_texts, email=email)
        else:
            text = self._plain or text_of(html)
        rendered = Email(email, self._title, text, html)
        return rendered if self._marked is None else self._marked.fill(rendered, values or {})
