"""A client that reads pages and sends their forms, without a browser."""

from __future__ import annotations

import html
import re
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from app.testing.people import Person

from ..rigs.cookie_browsers import HOST, SAME_ORIGIN


class PageReader:
    def __init__(self, app: Flask, person: Person | None = None) -> None:
        self.client = app.test_client()
        self.here = "/"
        if person is not None:
            form = {"email": person.email, "password": person.password}
            self.here = self.post("/sign-in", data=form).headers["Location"]

    def get(self, path: str, status: int = 200, **request: Any) -> str:
        """Open a page and return its text; it becomes the current page."""
        self.here = path
        return without_breaks(self.ask("GET", path, status, **request))

    def post(self, path: str, status: int = 303, **request: Any) -> TestResponse:
        """Send a form of the current page."""
        headers = {"Referer": HOST + self.here, **request.pop("headers", {})}
        return self.ask("POST", path, status, headers=headers, **request)

    def send(self, path: str, /, **form: Any) -> str:
        """Send a form and return the page that follows."""
        return self.get(self.post(path, data=form).headers["Location"])

    def send_rejected(self, path: str, status: int, /, **form: Any) -> str:
        return without_breaks(self.post(path, status, data=form))

    def ask(self, method: str, path: str, status: int, **request: Any) -> TestResponse:
        headers = {**SAME_ORIGIN, **request.pop("headers", {})}
        answer = self.client.open(path, method=method, base_url=HOST, headers=headers, **request)
        text = answer.get_data(as_text=True) if answer.mimetype == "text/html" else ""
        found = f"{method} {path}: {answer.status_code} {visible_text(text)[:800]}"
        assert answer.status_code == status, found
        return answer


def without_breaks(answer: TestResponse) -> str:
    """Return a page without the places where addresses break."""
    return answer.get_data(as_text=True).replace("<wbr>", "")


def visible_text(text: str) -> str:
    """Return the visible text of a page in one line."""
    body = re.sub(r"(?s)<(script|style|svg).*?</\1>", " ", text)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", body))).strip()


def notice_of(text: str) -> str:
    """Return the notice about the last action."""
    found = re.search(r'(?s)<div class="toast .*?<p>(.*?)</p>', text)
    return visible_text(found[1]) if found else ""


def hidden_fields(text: str, action: str) -> dict[str, str]:
    """Return the hidden fields of the form with this action."""
    form = re.search(rf'(?s)<form[^>]* action="{re.escape(action)}".*?</form>', text)
    assert form, f"no form for {action}"
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form[0])
    return {name: html.unescape(value) for name, value in found}


def error_of(text: str, field: str) -> str:
    """Return the error at a field."""
    found = re.search(rf'(?s)id="[^"]*-{field}-fault".*?<span>(.*?)</span>', text)
    return visible_text(found[1]) if found else ""
