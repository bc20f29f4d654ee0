"""Malformed requests to every route never cause a 5xx."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import Rule

from app.accounts.service import Accounts
from app.core.context import EXTENSION, Context

from ..conftest import MakeApp
from ..rigs.cases import for_each
from ..rigs.routes import api_rules
from ..rigs.sending import send

EMAIL, PASSWORD = "root@example.com", "a good password"

MALFORMED_TEXT = [
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\r\nX-Injected: 1",
    "٣",
    "1_0",
    "-1",
    "0",
    "1e999",
    "NaN",
    "9" * 400,
    "9223372036854775808",
    "-9223372036854775809",
    "'; DROP TABLE tasks; --",
    "%00",
    "../../etc/passwd",
    "{{7*7}}",
    "<script>",
    "x" * 5000,
    "\U0001f468‍\U0001f469" * 60,
    "a@b",
    "root@example.com",
    "2026-02-30",
    "current",
    "default",
]

texts = st.one_of(st.sampled_from(MALFORMED_TEXT), st.text(max_size=40))
numbers = st.one_of(
    st.sampled_from([0, -1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**400, 1e308]),
    st.integers(),
    st.floats(),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=8,
)

raw_bodies = st.one_of(
    st.sampled_from(
        [
            b"",
            b"{",
            b"[" * 5000,
            b"null",
            b'{"a": NaN}',
            b"\xff\xfe{\x00}\x00",
            b'{"title": 1e999}',
            b"--x\r\nContent-Disposition: form-data; name=avatar; filename=a\r\n\r\nGIF89a",
            b"--x\r\nContent-Disposition: form-data\r\n\r\n",
            b"a=%ff&a=%00&" * 1500,
        ]
    ),
    st.binary(max_size=60),
)
content_types = st.sampled_from(
    [
        "application/json",
        "application/json; charset=utf-16",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "text/plain",
        ";",
        "\xff",
        "",
    ]
)
header_values = texts.map(
    lambda text: (
        text.encode("latin-1", "replace").decode("latin-1").replace("\r", "").replace("\n", "")
    )
)
header_names = st.sampled_from(
    [
        "X-Owner",
        "X-Workspace",
        "X-Request-ID",
        "Authorization",
        "Origin",
        "Host",
        "Cookie",
        "Content-Length",
        "Accept",
        "X-Forwarded-For",
    ]
)


def known_names(app: Flask) -> list[str]:
    """Return the field names of all request schemas, since other names are ignored."""
    from app.core.web.operation import find_operation, schema_class

    names = {"title"}
    with app.app_context():
        for view in app.view_functions.values():
            found = find_operation(view)
            for source in found.reads.values() if found else ():
                fields = schema_class(source)().load_fields
                names |= {field.data_key or name for name, field in fields.items()}
    return sorted(names)


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app(
        CORE__LOG_LEVEL="ERROR",
        CORE__EMAILS_ENABLED="false",
        AUTH__RATE_LIMITS_ENABLED="false",
        AUTH__MFA="optional",
        AUTH__LOGIN_BY_CODE="on",
    )
    # As on a server, unexpected exceptions become a 500, which the tests detect.
    app.testing = False
    return app


@pytest.fixture
def token(app: Flask) -> str:
    context = app.extensions[EXTENSION]
    assert isinstance(context, Context)
    with app.app_context():
        context.get(Accounts).create(EMAIL, PASSWORD, role="root", status="active")
    answer = app.test_client().post("/api/v1/login", data={"username": EMAIL, "password": PASSWORD})
    return str(answer.get_json()["access_token"])


def rules_except_logout(app: Flask) -> list[Rule]:
    """Return all routes except logout, which revokes the token."""
    rules = [rule for rule in api_rules(app) if rule.endpoint != "auth.logout"]
    return sorted(rules, key=lambda rule: (rule.rule, rule.endpoint))


def assert_signed_in(app: Flask, token: str) -> None:
    """Check that the token is still valid: otherwise all requests were rejected early."""
    answer = app.test_client().get("/api/v1/account", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200


def path_of(app: Flask, rule: Rule, draw: Any) -> str:
    """Return the rule's path with generated values that its converters accept."""
    arguments = {}
    for name in sorted(rule.arguments):
        kind = type(rule._converters[name]).__name__
        any_text = texts.filter(lambda text: text.isprintable() and "/" not in text and text != "")
        number = st.sampled_from([0, 1, 2, -1, 2**31, 2**63, 10**30])
        arguments[name] = draw(number if kind == "RowId" else any_text)
    method = min((rule.methods or {"GET"}) - {"HEAD", "OPTIONS"}, default="GET")
    try:
        return app.url_map.bind("localhost").build(rule.endpoint, arguments, method=method)
    except (NotFound, MethodNotAllowed, UnicodeError):
        return rule.rule


def request_of(draw: Any, names: list[str], token: str) -> dict[str, Any]:
    headers = draw(st.lists(st.tuples(header_names, header_values), max_size=2))
    if draw(st.booleans()):
        headers.append(("Authorization", f"Bearer {token}"))
    request: dict[str, Any] = {"headers": headers}
    pairs = st.lists(st.tuples(st.sampled_from(names), texts), max_size=3)
    request["query_string"] = dict(_encodable(draw(pairs)))
    kind = draw(st.sampled_from(["raw", "json", "form", "none"]))
    if kind == "raw":
        request |= {"data": draw(raw_bodies), "content_type": draw(content_types)}
    elif kind == "json":
        body = draw(st.dictionaries(st.sampled_from(names), values, max_size=6))
        request["json"] = {"data": body} if draw(st.booleans()) else body
    elif kind == "form":
        request["data"] = dict(_encodable(draw(pairs)))
    return request


def _encodable(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, text.encode(errors="replace").decode()) for name, text in pairs]


@given(data=st.data())
@settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
def send_malformed_request(
    app: Flask, token: str, rules: list[Rule], names: list[str], data: st.DataObject
) -> None:
    rule = data.draw(st.sampled_from(rules))
    methods = sorted((rule.methods or set()) | {"POST", "BREW"})
    method = data.draw(st.sampled_from(methods))
    path = path_of(app, rule, data.draw)
    request = request_of(data.draw, names, token)
    response = send(app, path, method=method, **request)
    assert response.status_code < 500, f"{method} {path}: {response.get_data()[:300]!r}"
    if response.status_code >= 400:
        assert response.mimetype == "application/problem+json", f"{method} {path}"


def test_malformed_requests_never_cause_a_5xx(app: Flask, token: str) -> None:
    send_malformed_request(app, token, rules_except_logout(app), known_names(app))
    assert_signed_in(app, token)


@for_each("text", MALFORMED_TEXT)
def test_malformed_tokens_are_rejected(app: Flask, text: str) -> None:
    header = text.encode("latin-1", "replace").decode("latin-1").translate({10: None, 13: None})
    for scheme in ("Bearer ", "bearer  ", "Basic ", ""):
        response = app.test_client().delete(
            "/api/v1/logout", headers={"Authorization": f"{scheme}{header}"}
        )
        assert response.status_code == 401, header


def bodies_of(app: Flask, names: list[str], text: str) -> list[dict[str, Any]]:
    """Return bodies with the text in every field, in each format, to reuse for all routes."""
    written = dict.fromkeys(names, text)
    form = urlencode(dict.fromkeys(names, text.encode(errors="replace").decode()))
    return [
        {"data": app.json.dumps(written), "content_type": "application/json"},
        {"data": app.json.dumps({"data": written}), "content_type": "application/json"},
        {"data": form, "content_type": "application/x-www-form-urlencoded"},
    ]


@for_each("text", MALFORMED_TEXT)
def test_invalid_text_in_any_field_never_causes_a_5xx(app: Flask, token: str, text: str) -> None:
    names = known_names(app)
    authorized = {"Authorization": f"Bearer {token}"}
    bodies = bodies_of(app, names, text)
    query = bodies[-1]["data"]
    for rule in rules_except_logout(app):
        arguments = dict.fromkeys(rule.arguments, 1)
        path = app.url_map.bind("localhost").build(rule.endpoint, arguments, force_external=False)
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            for body in bodies if method != "GET" else [{}]:
                response = send(
                    app, path, method=method, headers=authorized, query_string=query, **body
                )
                assert response.status_code < 500, f"{method} {path}: {text!r}"
                # The client must send no cookies with the next request.
                assert "Set-Cookie" not in response.headers, f"{method} {path}: {text!r}"
    assert_signed_in(app, token)
