"""A client without JavaScript that opens pages and sends forms."""

from __future__ import annotations

from flask import Flask
from werkzeug.test import TestResponse

from ..conftest import Person
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN, CookieBrowser


class FormClient:
    def __init__(self, app: Flask, person: Person | None = None) -> None:
        self.browser = CookieBrowser(app)
        if person is not None:
            self.browser.sign_in(person)

    def get(self, path: str, status: int = 200) -> str:
        return self._text(self.browser.client.get(path, base_url=HOST), status)

    def post(self, path: str, status: int = 303, /, **fields: str | list[str]) -> TestResponse:
        answer = self.browser.client.post(path, data=fields, base_url=HOST, headers=SAME_ORIGIN)
        assert answer.status_code == status, answer.text[-3000:]
        return answer

    def post_and_follow(self, path: str, /, **fields: str) -> str:
        """Send a form and return the page that follows."""
        return self.get(self.post(path, 303, **fields).headers["Location"])

    def _text(self, answer: TestResponse, status: int) -> str:
        assert answer.status_code == status, (answer.headers.get("Location"), answer.text[-3000:])
        return answer.text.replace("<wbr>", "")
