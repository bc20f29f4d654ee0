"""CORS, security headers and caching, for every response."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.core.config.environment import SettingsError
from app.testing.client import Api

from ..conftest import PASSWORD, MakeApp, Person
from ..rigs.cases import for_each

CLIENT = "http://localhost:3000"
PREFLIGHT = {
    "Origin": CLIENT,
    "Access-Control-Request-Method": "DELETE",
    "Access-Control-Request-Headers": "authorization",
}


@for_each(
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
def test_every_response_has_the_security_headers(
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


def test_hsts_is_sent_over_https(api: Api) -> None:
    assert "Strict-Transport-Security" not in api.get("/health").headers
    over_tls = api.get("/health", base_url="https://api.example.com")
    assert "max-age" in over_tls.headers["Strict-Transport-Security"]


def test_origin_of_the_client_is_allowed(api: Api, ada: Person) -> None:
    form = {"username": ada.email, "password": PASSWORD}
    headers = api.post("/login", data=form, headers={"Origin": CLIENT}).headers
    assert headers["Access-Control-Allow-Origin"] == CLIENT
    assert headers["Access-Control-Allow-Credentials"] == "true"
    assert "Origin" in headers["Vary"]
    # A script of the same origin needs no permission.
    same_origin = {"Origin": CLIENT, "Sec-Fetch-Site": "same-origin"}
    headers = api.get("/health", headers=same_origin).headers
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["Cache-Control"] == "no-store"


def test_origin_of_the_client_can_read_errors(api: Api) -> None:
    headers = api.get("/account", 401, headers={"Origin": CLIENT}).headers
    assert headers["Access-Control-Allow-Origin"] == CLIENT
    assert "X-Request-ID" in headers["Access-Control-Expose-Headers"]


@for_each("origin", ["https://evil.example", "null", f"{CLIENT}.evil.example", ""])
def test_other_origins_are_not_allowed(api: Api, origin: str) -> None:
    headers = api.get("/health", headers={"Origin": origin}).headers
    assert "Access-Control-Allow-Origin" not in headers


def test_listed_origins_are_allowed(make_app: MakeApp) -> None:
    app = make_app(
        CORE__CLIENT_HOST="https://app.example.com/",
        CORE__CORS_ORIGINS='["https://admin.example.com"]',
    )
    for origin in ("https://app.example.com", "https://admin.example.com"):
        headers = Api(app).get("/health", headers={"Origin": origin}).headers
        assert headers["Access-Control-Allow-Origin"] == origin


def test_preflight_returns_allowed_methods_and_headers(api: Api) -> None:
    headers = api.send("OPTIONS", "/logout", 200, headers=PREFLIGHT).headers
    assert headers["Access-Control-Allow-Origin"] == CLIENT
    assert "DELETE" in headers["Access-Control-Allow-Methods"]
    assert "Authorization" in headers["Access-Control-Allow-Headers"]
    assert int(headers["Access-Control-Max-Age"]) > 0


def test_preflight_allows_tracing_headers(api: Api) -> None:
    headers = api.send("OPTIONS", "/tasks", 200, headers=PREFLIGHT).headers
    allowed = headers["Access-Control-Allow-Headers"].split(", ")
    assert {"traceparent", "tracestate", "baggage", "If-None-Match"} <= set(allowed)


def test_preflight_allows_listed_headers(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__CORS_HEADERS='["X-Tenant", "X-Api-Key"]'))
    headers = api.send("OPTIONS", "/tasks", 200, headers=PREFLIGHT).headers
    assert headers["Access-Control-Allow-Headers"].endswith(", X-Tenant, X-Api-Key")


@pytest.mark.parametrize("name", ["", "X Tenant", "X-Tenant\r\nSet-Cookie: a=b", "X-Tenant,Y"])
def test_listed_header_must_be_a_valid_name(make_app: MakeApp, name: str) -> None:
    with pytest.raises(SettingsError, match="CORS_HEADERS"):
        make_app(CORE__CORS_HEADERS=json.dumps([name]))


def test_client_can_read_the_404_of_an_unknown_route(api: Api) -> None:
    headers = api.send("OPTIONS", "/nowhere", 204, headers=PREFLIGHT).headers
    assert headers["Access-Control-Allow-Origin"] == CLIENT
    response = api.put("/nowhere", 404, headers={"Origin": CLIENT})
    assert response.headers["Access-Control-Allow-Origin"] == CLIENT
    assert response.json["code"] == "not_found"


def test_preflight_from_another_origin_allows_nothing(api: Api) -> None:
    headers_sent = {**PREFLIGHT, "Origin": "https://evil.example"}
    for path, status in (("/nowhere", 204), ("/account", 200)):
        headers = api.send("OPTIONS", path, status, headers=headers_sent).headers
        assert not [name for name, _ in headers if name.startswith("Access-Control")]


def test_unknown_route_has_no_methods(api: Api) -> None:
    api.send("OPTIONS", "/nowhere", 404)


def test_only_preflights_return_allowed_methods(api: Api) -> None:
    headers = api.send("OPTIONS", "/account", 200, headers={"Origin": CLIENT}).headers
    assert "Access-Control-Allow-Headers" not in headers
    assert headers["Access-Control-Allow-Origin"] == CLIENT


def test_client_can_read_the_headers_of_lists(api: Api) -> None:
    headers = api.get("/tasks/", headers={"Origin": CLIENT}).headers
    exposed = set(headers["Access-Control-Expose-Headers"].split(", "))
    assert exposed >= {"ETag", "Link", "Retry-After", "X-Request-ID", "X-Total-Count"}


def test_cors_covers_every_header_of_the_api(make_app: MakeApp) -> None:
    api = Api(make_app(AUTH__MFA="optional", AUTH__SESSIONS="on"))
    document = api.get("/openapi.json").json
    operations = [each for path in document["paths"].values() for each in path.values()]
    sent = {
        parameter["name"]
        for operation in operations
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "header"
    }
    received = {
        name
        for operation in operations
        for response in operation["responses"].values()
        for name in response.get("headers", {})
    }
    preflight = api.send("OPTIONS", "/tasks", 200, headers=PREFLIGHT).headers
    allowed = set(preflight["Access-Control-Allow-Headers"].split(", "))
    assert allowed >= sent | {"Authorization", "Content-Type", "Prefer", "X-Trusted-Device"}
    headers = api.get("/health", headers={"Origin": CLIENT}).headers
    assert set(headers["Access-Control-Expose-Headers"].split(", ")) >= received


def test_hsts_includes_subdomains_if_configured(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__HSTS_SUBDOMAINS="true"))
    over_tls = api.get("/health", base_url="https://api.example.com")
    assert over_tls.headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"


def test_no_response_redirects_to_the_host_header(api: Api) -> None:
    for path in ("//health", "///health", "/profiles//avatars/a", "/health//"):
        answer = api.get(path, 404, base_url="https://evil.example")
        assert "evil" not in answer.response.get_data(as_text=True)
        assert "Location" not in answer.headers


def test_options_with_an_invalid_host_is_not_a_server_error(api: Api) -> None:
    for path in ("/account", "/nowhere"):
        answer = api.client.options(f"/api/v1{path}", headers={"Host": "x" * 300})
        assert answer.status_code < 500
