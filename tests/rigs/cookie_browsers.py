"""Clients that authenticate with the session cookie, as browsers do."""

from __future__ import annotations

from typing import Any

from flask import Flask
from sqlalchemy import select

from app.auth.sessions.models import AccountSession
from app.core.context import current_frontdesk
from app.testing.client import Answer, Api
from app.testing.people import Person

NAME = "__Host-fd"
HOST = "https://localhost"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


class CookieBrowser(Api):
    """A client that uses TLS, stores cookies, and sends same-origin requests."""

    def send(self, method: str, path: str, status: int, **request: Any) -> Answer:
        request.setdefault("base_url", HOST)
        request["headers"] = {**SAME_ORIGIN, **(request.get("headers") or {})}
        return super().send(method, path, status, **request)

    def sign_in(self, person: Person, status: int = 200, **more: Any) -> Answer:
        body = {"email": person.email, "password": person.password, **more}
        return self.post("/session", status, json=body)

    @property
    def cookie(self) -> str | None:
        found = self.client.get_cookie(NAME, "localhost", "/")
        return None if found is None else found.value

    def use_cookie(self, value: str) -> None:
        self.client.set_cookie(NAME, value, domain="localhost", path="/", secure=True)


class RawCookieClient(CookieBrowser):
    """A client that stores no cookies: it sends the `Cookie` header that a test sets."""

    def __init__(self, app: Flask) -> None:
        super().__init__(app)
        self.client = app.test_client(use_cookies=False)

    def ask(self, cookie: str, status: int, method: str = "GET", **request: Any) -> Answer:
        header = {"Cookie": cookie.encode().decode("latin-1")}
        return self.send(method, "/account", status, headers=header, **request)


def set_cookie(answer: Answer) -> str:
    found = answer.headers.getlist("Set-Cookie")
    assert len(found) == 1
    return str(found[0])


def stored_sessions(app: Flask) -> list[AccountSession]:
    with app.app_context():
        session = current_frontdesk.session
        found = session.scalars(select(AccountSession).order_by(AccountSession.id)).all()
        session.expunge_all()
        session.rollback()
        return list(found)
