"""A message on a page: with its links, and cut short where it stands among others."""

from __future__ import annotations

import re
from typing import NamedTuple

from markupsafe import Markup

from ...delivery.mail.markup import linked

# Not taken for one of our own pages, wherever it leads.
_LINK = Markup('<a class="above" href="{0}" rel="noreferrer nofollow" hx-boost="false">{0}</a>')
SHOWN = 280
_SPACE = re.compile(r"\s+")


class Preview(NamedTuple):
    text: Markup
    is_cut: bool


def with_links(message: str) -> Markup:
    return linked(message, _LINK)


def preview(message: str) -> Preview:
    """Its beginning, in one piece; an address is shown whole or not at all."""
    text = _SPACE.sub(" ", message).strip()
    if len(text) <= SHOWN:
        return Preview(with_links(text), False)
    words, space, _rest = text[: SHOWN + 1].rpartition(" ")
    if not space:
        # One long word: as an address it would lead elsewhere when it is cut.
        return Preview(Markup("{}…").format(text[:SHOWN]), True)
    return Preview(with_links(words) + "…", True)
