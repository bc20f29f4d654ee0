"""Converts an HTML email to text."""

import re
from html.parser import HTMLParser

_SKIPPED = {"head", "style", "script", "template"}
# The preview line of a mail list repeats text of the email.
_HIDDEN = re.compile(r"\s*display\s*:\s*none")
_BLOCKS = {
    *("address", "article", "blockquote", "center", "div", "dl", "dd", "dt", "footer", "form"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre"),
    *("section", "table", "td", "th", "tr", "ul"),
}


def html_to_text(html: str) -> str:
    reader = _TextReader()
    reader.feed(html)
    reader.close()
    return reader.text


class _TextReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self._parts: list[str] = []
        # The element that hides its content, which has no element of the same name.
        self._skipped: str | None = None
        # The URL of the open link, and the number of parts before its text.
        self._link: tuple[str, int] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if self._skipped is not None:
            return
        if tag in _SKIPPED or _HIDDEN.match(attributes.get("style") or ""):
            self._skipped = tag
        elif tag == "br":
            self._parts.append("\n")
        elif tag == "li":
            self._parts.append("\n- ")
        elif tag in _BLOCKS:
            self._parts.append("\n\n")
        elif tag == "img":
            self.handle_data(attributes.get("alt") or "")
        elif tag == "a" and attributes.get("href"):
            self._link = (str(attributes["href"]), len(self._parts))

    def handle_endtag(self, tag: str) -> None:
        if self._skipped is not None:
            if tag == self._skipped:
                self._skipped = None
        elif tag in _BLOCKS:
            self._parts.append("\n\n")
        elif tag == "a" and self._link is not None:
            address, begin = self._link
            address = address.removeprefix("mailto:")
            shown = "".join(self._parts[begin:]).strip()
            if shown != address:
                self._parts.append(f": {address}" if shown else address)
            self._link = None

    def handle_data(self, data: str) -> None:
        if self._skipped is None:
            self._parts.append(re.sub(r"\s+", " ", data))

    @property
    def text(self) -> str:
        lines = "".join(self._parts).split("\n")
        text = "\n".join(re.sub(r" +", " ", line).strip() for line in lines)
        return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
