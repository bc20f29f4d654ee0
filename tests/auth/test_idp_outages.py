"""An identity provider that is unreachable, slow or invalid: 502 in bounded time, then recovery."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from flask import Flask

from app.auth.idp import calls
from app.testing.client import Api

from ..conftest import MakePerson, Person
from ..rigs.oidc.proxy import DISCOVERY, KEYS, TOKEN, USERINFO, Answer, Proxy
from ..rigs.oidc.visitor import REDIRECT_URI, Visitor


@pytest.fixture
def ada(idp_app: Flask, person: MakePerson) -> Person:
    return person("ada", into=idp_app)


# The database does not matter here.
pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

MakeIdpApp = Callable[..., Flask]


@contextmanager
def within(seconds: float) -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < seconds


def test_unreachable_provider_at_the_start(visitor: Visitor, ada: Person, proxy: Proxy) -> None:
    proxy.down()
    with within(5):
        answer = visitor.api.get("/idp/login", 502)
    assert answer.json["code"] == "provider_unavailable"
    assert answer.headers["Retry-After"]
    assert answer.headers["Content-Type"] == "application/problem+json"
    proxy.up()
    visitor.sign_in("ada")


def test_unreachable_provider_at_the_callback(visitor: Visitor, ada: Person, proxy: Proxy) -> None:
    callback = visitor.go("ada")
    proxy.down()
    with within(5):
        visitor.finish(callback, 502)
    proxy.up()
    visitor.sign_in("ada")


@pytest.mark.parametrize("path", [TOKEN, KEYS, USERINFO])
@pytest.mark.parametrize("slow", ["delay", "drip"])
def test_slow_provider_times_out(
    visitor: Visitor,
    ada: Person,
    proxy: Proxy,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    slow: str,
) -> None:
    """The timeout covers the whole step: a server that drips bytes is never slow for a single
    read."""
    monkeypatch.setattr(calls, "STEP_SECONDS", 0.5)
    callback = visitor.go("ada")
    if slow == "drip":
        proxy.drip(path)
    else:
        proxy.delay(path, 8)
    with within(5):
        visitor.finish(callback, 502)


INVALID_ANSWERS = [
    Answer(302, b"", (("Location", "/elsewhere"),)),
    Answer(307, b"", (("Location", "/elsewhere"),)),
    Answer(302),
    Answer(200, b""),
    Answer(200, b"<html>"),
    Answer(200, b"[]"),
    Answer(200, b"{}"),
    Answer(200, b"null"),
    Answer(200, b'"text"'),
    Answer(200, b"\xff\xfe"),
    Answer(200, b"[" * 100_000),
    Answer(200, b'{"keys": [], "access_token": 7, "id_token": 7, "issuer": 7}'),
    Answer(400, b'{"error": ["invalid_grant"]}'),
    Answer(401, b'{"error": "invalid_client"}'),
    Answer(429, b"{}"),
    Answer(500, b'{"error": "invalid_grant"}'),
    Answer(503, b"later"),
]


@pytest.mark.parametrize("path", [DISCOVERY, TOKEN, KEYS])
def test_invalid_answer_at_any_step_is_a_502(
    idp_app: Flask, person: MakePerson, proxy: Proxy, path: str
) -> None:
    person("ada", into=idp_app)
    for answer in INVALID_ANSWERS:
        visitor = Visitor(Api(idp_app))
        if path != DISCOVERY:
            callback = visitor.go("ada")
        proxy.answer(path, answer)
        if path == DISCOVERY:
            visitor.api.get("/idp/login", 502)
        else:
            visitor.finish(callback, 502)
        assert proxy.calls["/elsewhere"] == 0
        proxy.reset()
    Visitor(Api(idp_app)).sign_in("ada")


@pytest.mark.parametrize("answer", [Answer(200, b"<html>"), Answer(401, b"{}"), Answer(302)])
def test_invalid_user_info_is_a_502(
    visitor: Visitor, ada: Person, proxy: Proxy, answer: Answer
) -> None:
    proxy.answer(USERINFO, answer)
    visitor.sign_in("ada", 502)


@pytest.mark.parametrize(
    "change",
    [
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": None},
        {"token_endpoint": "ftp://provider.example.com"},
        {"jwks_uri": ["http://provider.example.com"]},
        {"userinfo_endpoint": 7},
        {"issuer": ""},
        {"issuer": "https://" + "x" * 250},
        {"issuer": "https://provider.example.com/\x00"},
    ],
)
def test_invalid_discovery_document_is_a_502(
    visitor: Visitor, proxy: Proxy, change: dict[str, object]
) -> None:
    proxy.alter_json(DISCOVERY, lambda document: document | change)
    visitor.api.get("/idp/login", 502)


def test_discovery_document_cannot_configure_the_client(
    visitor: Visitor, ada: Person, proxy: Proxy
) -> None:
    document_settings = {
        "verify": False,
        "client_id": "x",
        "default_timeout": "x",
        "scope": 7,
        "jwks": {},
    }
    proxy.alter_json(DISCOVERY, lambda document: document | document_settings)
    visitor.sign_in("ada")


def test_wrong_client_secret_is_logged(
    make_idp_app: MakeIdpApp, capsys: pytest.CaptureFixture[str]
) -> None:
    visitor = Visitor(Api(make_idp_app(IDP_OAUTH_CLIENT_SECRET="secret of another client")))
    visitor.sign_in("ada", 502)
    logged = capsys.readouterr().err
    assert "invalid_client" in logged
    assert "secret of another client" not in logged


def test_concurrent_sign_ins_at_a_hanging_provider_are_limited(
    idp_app: Flask, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only `MAX_CALLS` requests wait for a provider that hangs; others get a 502 at once."""
    monkeypatch.setattr(calls, "STEP_SECONDS", 2)
    monkeypatch.setattr(calls, "WAIT_SECONDS", 0.1)
    proxy.delay(DISCOVERY, 3)
    query = {"redirect_uri": REDIRECT_URI}

    def begin(_: int) -> float:
        start = time.monotonic()
        Api(idp_app).get("/idp/login", 502, query_string=query)
        return time.monotonic() - start

    with ThreadPoolExecutor(16) as threads:
        seconds = sorted(threads.map(begin, range(16)))
    assert seconds[16 - calls.MAX_CALLS - 1] < 1.5
    proxy.reset()
    # Cut-off requests finish a moment later and free their slots.
    time.sleep(1.5)
    Api(idp_app).get("/idp/login", 302, query_string=query)
