"""Converts a message's text to HTML."""

import re

from markupsafe import Markup, escape

# Without characters that end an attribute, are invisible or change the text direction: the reader
# sees where the link leads. A host has no mark of a personal field (personal.py), whose value
# could be the end of another host.
_LINK = re.compile(
    r"https?://(?=[\w\[])(?![^/?#\s]*[\U000f0000-\U000f0fff])[^\s<>\"'`{}|\\^\x00-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb]+",
    re.IGNORECASE,
)
_PUNCTUATION = ".,;:!?*_~…"
_OPENING = {")": "(", "]": "["}


# With an inline style, because mail programs ignore style sheets.
EMAIL_LINK = Markup('<a class="link" href="{0}" style="color: #0b57b8;">{0}</a>')


def linked(text: str, link: Markup = EMAIL_LINK) -> Markup:
    """Return the escaped text, with links for its URLs and with its line breaks."""
    parts, end = [], 0
    for match in _LINK.finditer(text):
        address = _without_punctuation(match[0])
        parts += [escape(text[end : match.start()]), link.format(address)]
        end = match.start() + len(address)
    parts.append(escape(text[end:]))
    return Markup("<br>\n").join(Markup().join(parts).splitlines())


def _without_punctuation(address: str) -> str:
    """Return the URL without the sentence's punctuation, or a bracket opened before the URL."""
    while True:
        last = address[-1]
        opened = _OPENING.get(last)
        if last not in _PUNCTUATION and (
            opened is None or address.count(opened) >= address.count(last)
        ):
            return address
        address = address[:-1]
