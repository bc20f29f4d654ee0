"""Somebody who reads pages and sends their forms, without a browser."""

from __future__ import annotations

import html
import re
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from app.testing.people import Person

from ..rigs.cookie_browsers import HOST, SAME_ORIGIN


class Reader:
    def __init__(self, app: Flask, somebody: Person | None = None) -> None:
        self.client = app.test_client()
        self.here = "/"
        if somebody is not None:
            form = {"email": somebody.email, "password": somebody.password}
            self.here = self.post("/sign-in", data=form).headers["Location"]

    def get(self, path: str, status: int = 200, **request: Any) -> str:
        """The page's text; the reader is on it from now on."""
        self.here = path
        return self.ask("GET", path, status, **request).get_data(as_text=True)

    def post(self, path: str, status: int = 303, **request: Any) -> TestResponse:
        """A form of the page that the reader is on."""
        headers = {"Referer": HOST + self.here, **request.pop("headers", {})}
        return self.ask("POST", path, status, headers=headers, **request)

    def send(self, path: str, /, **form: Any) -> str:
        """A form that is done, and the page it leads to."""
        return self.get(self.post(path, data=form).headers["Location"])

    def refused(self, path: str, expected: int, /, **form: Any) -> str:
        return self.post(path, expected, data=form).get_data(as_text=True)

    def ask(self, method: str, path: str, status: int, **request: Any) -> TestResponse:
        headers = {**SAME_ORIGIN, **request.pop("headers", {})}
        answer = self.client.open(path, method=method, base_url=HOST, headers=headers, **request)
        text = answer.get_data(as_text=True) if answer.mimetype == "text/html" else ""
        found = f"{method} {path}: {answer.status_code} {visible(text)[:800]}"
        assert answer.status_code == status, found
        return answer


def visible(text: str) -> str:
    """What is read of a page, in one line."""
    body = re.sub(r"(?s)<(script|style|svg).*?</\1>", " ", text)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", body))).strip()


def said(text: str) -> str:
    """What the page says of what was just done."""
    found = re.search(r'(?s)<div class="toast .*?<p>(.*?)</p>', text)
    return visible(found[1]) if found else ""


def hidden(text: str, action: str) -> dict[str, str]:
    """The hidden fields of the form with this action."""
    form = re.search(rf'(?s)<form[^>]* action="{re.escape(action)}".*?</form>', text)
    assert form, f"no form for {action}"
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form[0])
    return {name: html.unescape(value) for name, value in found}


def fault_of(text: str, field: str) -> str:
    """What stands at a field of what is wrong with it."""
    found = re.search(rf'(?s)id="[^"]*-{field}-fault".*?<span>(.*?)</span>', text)
    return visible(found[1]) if found else ""
