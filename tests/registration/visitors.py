"""Test helper: a visitor who registers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from flask import Flask

from app.accounts.service import Accounts
from app.core.context import service
from app.testing.client import Answer, Api
from app.testing.outbox import MailOutbox

ADA = "ada@example.com"
SECRET_WORD = "a password never seen before"


@dataclass
class Visitor:
    """A visitor who registers and receives emails at their address."""

    app: Flask
    mails: MailOutbox
    email: str = ADA
    password: str = SECRET_WORD
    prefix: str = "/api/v1"

    @property
    def api(self) -> Api:
        return Api(self.app, self.prefix)

    def register(self, status: int = 202, **more: Any) -> Answer:
        body = {"email": self.email, "password": self.password, **more}
        return self.api.post("/registration", status, json=body)

    def mailed(self) -> tuple[str, str]:
        """Return the token and the code of the newest email."""
        text = self.mails.last(self.email).text
        token = re.search(r"\?token=(\S+)", text)
        assert token
        return token[1], code_in(text)

    def mailed_code(self) -> str:
        """Return the code of the newest email, which has no token."""
        return code_in(self.mails.last(self.email).text)

    def verify(self, token: str, status: int = 200, **more: Any) -> Answer:
        return self.api.post("/email-verification", status, json={"token": token, **more})

    def log_in(self, status: int = 200, password: str = "") -> Answer:
        form = {"username": self.email, "password": password or self.password}
        return self.api.post("/login", status, data=form)


# How users group the digits of a code; the last one has a typographic hyphen.
GROUPED = ("{} {}", " {}-{} ", "{}\u2011{}")


def grouped(code: str, pattern: str) -> str:
    return pattern.format(code[:4], code[4:])


def code_in(text: str) -> str:
    code = re.search(r"\b\d{8}\b", text)
    assert code
    return code[0]


def emails(app: Flask) -> list[str]:
    with app.app_context():
        return [account.email for account in service(Accounts).all()]
