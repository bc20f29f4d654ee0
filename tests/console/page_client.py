"""A browser without JavaScript: reads pages, fills in their forms, and follows redirects."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from app.testing.outbox import MailOutbox

from ..rigs.cookie_browsers import HOST, SAME_ORIGIN


@dataclass
class Form:
    action: str
    fields: dict[str, str] = field(default_factory=dict)


class ParsedPage(HTMLParser):
    """The text, links and forms of a page, with the values of the fields."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self._ignored_depth = 0
        self.feed(html.replace("<wbr>", ""))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self.forms.append(Form(given.get("action") or ""))
        elif tag == "input" and self.forms and given.get("name"):
            if given.get("type") not in ("checkbox", "radio") or "checked" in given:
                self.forms[-1].fields[str(given["name"])] = given.get("value") or ""
        elif tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        self._ignored_depth += tag in ("script", "style", "title")

    def handle_endtag(self, tag: str) -> None:
        self._ignored_depth -= tag in ("script", "style", "title")

    def handle_data(self, data: str) -> None:
        if not self._ignored_depth and data.strip():
            self.texts.append(data.strip())

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


class PageClient:
    def __init__(self, app: Flask) -> None:
        self.client = app.test_client()
        self.answer: TestResponse
        self.path = ""

    def open(self, path: str, **request: Any) -> ParsedPage:
        return self._ask("GET", path, **request)

    def submit(self, action: str, **fields: str) -> ParsedPage:
        """Send the form with this action, with its values and the given ones."""
        found = [form for form in self.page.forms if form.action.partition("?")[0] == action]
        assert found, f"no form {action}, only {[form.action for form in self.page.forms]}"
        return self._ask("POST", found[-1].action, data={**found[-1].fields, **fields})

    def sign_in(self, email: str, password: str, at: str = "/sign-in") -> ParsedPage:
        self.open(at)
        return self.submit("/sign-in", email=email, password=password)

    @property
    def page(self) -> ParsedPage:
        return ParsedPage(self.answer.text)

    @property
    def status(self) -> int:
        return self.answer.status_code

    def is_signed_in(self) -> bool:
        answer = self.client.get("/dashboard", base_url=HOST, headers=SAME_ORIGIN)
        return answer.status_code == 200

    def _ask(self, method: str, path: str, **request: Any) -> ParsedPage:
        self.path = path
        headers = {**SAME_ORIGIN, **(request.pop("headers", {}))}
        self.answer = self.client.open(
            path, method=method, base_url=HOST, headers=headers, **request
        )
        if self.answer.status_code in (302, 303):
            where = self.answer.headers["Location"]
            if where.startswith("/"):
                return self._ask("GET", where)
        return self.page


def code_of(mails: MailOutbox, email: str) -> str:
    """Return the code in the newest email to this address."""
    return _find(mails, email, r"\b(\d{8})\b")


def link_of(mails: MailOutbox, email: str) -> str:
    """Return the path and token of the link in the newest email to this address."""
    return _find(mails, email, r"https?://[^/\s]+(/\S+\?token=\S+)")


def _find(mails: MailOutbox, email: str, pattern: str) -> str:
    text = mails.last(email).text
    found = re.search(pattern, text)
    assert found, text
    return found[1]
