from __future__ import annotations

import pytest
from flask import Flask
from flask_frontdesk.testing import Answer, Kit

from app import EMAIL_HEADER, create_app

PROXY, CLIENT = "127.0.0.1", "203.0.113.9"


@pytest.fixture
def app() -> Flask:
    return create_app("sqlite://")


def through_proxy(kit: Kit, email: str, status: int = 200, method: str = "GET") -> Answer:
    """Send a request as the proxy does."""
    headers = {EMAIL_HEADER: email, "X-Forwarded-For": CLIENT, "Origin": "http://localhost"}
    return kit.api().send(method, "/hello", status, headers=headers)


# [sign-in]
def test_user_of_the_proxy_is_signed_in(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada")
    signed_in = {"X-Forwarded-Email": ada.email}
    assert frontdesk.api().get("/hello", headers=signed_in).json == {"hello": ada.email}
    frontdesk.api().get("/api/notifications/", headers=signed_in)
    frontdesk.api().get("/hello", 401)
    # [end]


def test_first_request_creates_the_account(frontdesk: Kit) -> None:
    for _ in range(2):
        assert through_proxy(frontdesk, "Grace@example.com").json == {"hello": "grace@example.com"}
    through_proxy(frontdesk, "no address", 422)
    through_proxy(frontdesk, "", 401)


def test_header_of_another_address_is_rejected(app: Flask) -> None:
    for forwarded in ({}, {"X-Forwarded-For": PROXY}, {"X-Forwarded-For": f"{CLIENT}, {PROXY}"}):
        response = app.test_client().get(
            "/hello",
            headers={EMAIL_HEADER: "ada@example.com", **forwarded},
            environ_base={"REMOTE_ADDR": CLIENT},
        )
        assert response.status_code == 401
        assert "only from the proxy" in response.text


def test_suspended_user_is_rejected(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada")
    ada.change(status="suspended")
    assert through_proxy(frontdesk, ada.email, 401).json["code"] == "account_inactive"


def test_form_of_another_site_is_rejected(app: Flask, frontdesk: Kit) -> None:
    through_proxy(frontdesk, "ada@example.com", method="POST")
    forged = {EMAIL_HEADER: "ada@example.com", "Origin": "https://evil.example"}
    frontdesk.api().post("/hello", 403, headers=forged)
