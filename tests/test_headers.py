"""CORS, security headers and caching, on every answer."""

from __future__ import annotations

from typing import Any

import pytest

from app.testing.client import Api

from .conftest import PASSWORD, MakeApp, Person

CLIENT = "http://localhost:3000"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/health", 200),
        ("GET", "/account", 401),
        ("GET", "/nowhere", 404),
        ("PUT", "/login", 405),
        ("POST", "/login", 415),
        ("POST", "/tasks/", 422),
        ("GET", "/docs", 200),
    ],
)
def test_every_answer_has_the_security_headers(
    api: Api, method: str, path: str, status: int
) -> None:
    body: dict[str, Any] = {"json": {}} if method == "POST" else {}
    headers = api.send(method, path, status, **body).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert len(headers.getlist("X-Request-ID")) == 1
    assert "Set-Cookie" not in headers


def test_https_is_remembered_by_the_browser(api: Api) -> None:
    assert "Strict-Transport-Security" not in api.get("/health").headers
    over_tls = api.get("/health", base_url="https://api.example.com")
    assert "max-age" in over_tls.headers["Strict-Transport-Security"]


def test_the_clients_origin_is_let_in(api: Api, ada: Person) -> None:
    form = {"username": ada.email, "password": PASSWORD}
    headers = api.post("/login", data=form, headers={"Origin": CLIENT}).headers
    assert headers["Access-Control-Allow-Origin"] == CLIENT
    assert headers["Access-Control-Allow-Credentials"] == "true"
    assert "Origin" in headers["Vary"]
    assert headers["Cache-Control"] == "no-store"


def test_the_clients_origin_reads_errors_too(api: Api) -> None:
    headers = api.get("/account", 401, headers={"Origin": CLIENT}).headers
    assert headers["Access-Control-Allow-Origin"] == CLIENT
    assert "X-Request-ID" in headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"{CLIENT}.evil.example", ""])
def test_another_origin_is_not(api: Api, origin: str) -> None:
    headers = api.get("/health", headers={"Origin": origin}).headers
    assert "Access-Control-Allow-Origin" not in headers


def test_listed_origins_are_let_in(make_app: MakeApp) -> None:
    app = make_app(
        CORE__CLIENT_HOST="https://app.example.com/",
        CORE__CORS_ORIGINS='["https://admin.example.com"]',
    )
    for origin in ("https://app.example.com", "https://admin.example.com"):
        headers = Api(app).get("/health", headers={"Origin": origin}).headers
        assert headers["Access-Control-Allow-Origin"] == origin


def test_a_preflight_tells_what_may_be_sent(api: Api) -> None:
    asked = {
        "Origin": CLIENT,
        "Access-Control-Request-Method": "DELETE",
        "Access-Control-Request-Headers": "authorization",
    }
    headers = api.send("OPTIONS", "/logout", 200, headers=asked).headers
    assert headers["Access-Control-Allow-Origin"] == CLIENT
    assert "DELETE" in headers["Access-Control-Allow-Methods"]
    assert "Authorization" in headers["Access-Control-Allow-Headers"]
    assert int(headers["Access-Control-Max-Age"]) > 0
