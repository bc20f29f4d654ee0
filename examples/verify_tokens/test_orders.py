"""Both services run, with keys that the command line creates."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import jwt
import orders
import pytest
from accounts import create_app
from flask import Flask
from flask_frontdesk.testing import PASSWORD, Kit
from werkzeug.serving import BaseWSGIServer, make_server


def create_key(*options: str) -> None:
    command = [sys.executable, "-m", "flask", "--app", "accounts", "auth", "keys", "new", *options]
    subprocess.run(command, check=True, cwd=Path(__file__).parent)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BaseWSGIServer]:
    create_key()
    server = make_server("127.0.0.1", 0, create_app(), threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.port}/.well-known/jwks.json"
    monkeypatch.setattr(orders, "keys", jwt.PyJWKClient(url))
    yield server
    server.shutdown()


@pytest.fixture
def app(frontdesk_fakes: object, server: BaseWSGIServer) -> Flask:
    assert isinstance(server.app, Flask)
    return server.app


def ask(token: str) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}"}
    response = orders.app.test_client().get("/orders", headers=headers)
    return response.status_code, response.get_json(silent=True)


def test_tokens_are_verified_with_the_published_keys(frontdesk: Kit) -> None:
    token = frontdesk.account("ada").token()
    assert ask(token) == (200, {"orders_of": "ada@example.com"})
    header, payload, signature = token.split(".")
    claims = jwt.decode(token, options={"verify_signature": False})
    forged = jwt.encode(claims, "a secret of an attacker, long enough", "HS256")
    for wrong in ("", f"{header}.{payload}.", f"{header}.{payload}.{signature[::-1]}", forged):
        assert ask(wrong)[0] == 401


def test_new_key_is_accepted_after_the_cache_time(
    frontdesk: Kit, server: BaseWSGIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = frontdesk.account("grace").token()
    assert ask(before)[0] == 200
    create_key("--first", "--algorithm", "EdDSA")
    # A reload starts new workers.
    app = server.app = create_app()
    form = {"username": "grace@example.com", "password": PASSWORD}
    response = app.test_client().post("/api/login", data=form)
    after = response.get_json()["access_token"]
    assert jwt.get_unverified_header(after)["alg"] == "EdDSA"
    monkeypatch.setattr(orders, "keys", jwt.PyJWKClient(orders.keys.uri))
    assert ask(after) == (200, {"orders_of": "grace@example.com"})
    assert ask(before)[0] == 200


def test_unreachable_keys_are_not_an_invalid_token(
    frontdesk: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = frontdesk.account("joan").token()
    # No server listens at port 1.
    monkeypatch.setattr(orders, "keys", jwt.PyJWKClient("http://127.0.0.1:1/jwks.json"))
    assert ask(token)[0] == 503
