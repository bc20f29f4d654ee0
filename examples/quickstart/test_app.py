from __future__ import annotations

from secrets import token_urlsafe

import pytest
from flask import Flask
from flask_frontdesk.testing import Kit

from app import create_app


@pytest.fixture
def app() -> Flask:
    return create_app("sqlite://")


def test_hello_requires_a_sign_in(frontdesk: Kit) -> None:
    frontdesk.api().get("/hello", 401)
    ada = frontdesk.account("ada")
    assert ada.api().get("/hello").json == {"hello": "ada@example.com"}


def test_password_reset_by_email(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada")
    frontdesk.api().post("/api/password-recovery", json={"email": ada.email})
    frontdesk.mails.assert_sent(ada.email, subject="reset your password")
    new = {
        "token": frontdesk.last_code(ada.email),
        "email": ada.email,
        "new_password": token_urlsafe(),
    }
    frontdesk.api().post("/api/reset-password", json=new)


def test_token_expires_after_thirty_minutes(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada").api()
    frontdesk.clock.step(minutes=29)
    ada.get("/hello")
    frontdesk.clock.step(minutes=2)
    ada.get("/hello", 401)
