"""Fixtures: the fakes of large providers, and a service that uses several providers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from flask import Flask

from app.auth.idp import provider
from app.testing.client import Answer, Api

from .fakes import (
    CLIENT_ID,
    KEY_ID,
    SECRET,
    TEAM_ID,
    WELL_KNOWN,
    Apple,
    Fake,
    GitHub,
    Google,
    Microsoft,
    running,
)
from .visitor import REDIRECT_URI

AnyFake = TypeVar("AnyFake", bound=Fake)
MakeProvidersApp = Callable[..., Flask]


def _fake(fake: AnyFake, kind: str, patch: pytest.MonkeyPatch, path: str = "") -> Iterator[AnyFake]:
    with running(fake):
        known = provider.KINDS[kind]
        url = f"{fake.url}{path}{WELL_KNOWN}" if known.metadata_url else ""
        patch.setitem(provider.KINDS, kind, known._replace(metadata_url=url))
        yield fake


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    yield from _fake(Google(), "google", monkeypatch)


@pytest.fixture
def microsoft(monkeypatch: pytest.MonkeyPatch) -> Iterator[Microsoft]:
    yield from _fake(Microsoft(), "microsoft", monkeypatch, "/{tenantid}/v2.0")


@pytest.fixture
def apple(monkeypatch: pytest.MonkeyPatch) -> Iterator[Apple]:
    yield from _fake(Apple(), "apple", monkeypatch)


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    from app.auth.idp import github

    for fake in _fake(GitHub(), "github", monkeypatch):
        monkeypatch.setattr(github, "AUTHORIZE_URL", f"{fake.url}/login/oauth/authorize")
        monkeypatch.setattr(github, "TOKEN_URL", f"{fake.url}/login/oauth/access_token")
        monkeypatch.setattr(github, "API_URL", fake.url)
        yield fake


def client_of(kind: str, **members: object) -> dict[str, object]:
    """Return a provider of AUTH.PROVIDERS with the client that the fakes know."""
    return {"kind": kind, "client_id": CLIENT_ID, "client_secret": SECRET, **members}


def client_of_apple(fake: Apple, folder: Path, **members: object) -> dict[str, object]:
    path = folder / "AuthKey.p8"
    path.write_bytes(fake.client_key.as_pem(private=True))
    found = {"kind": "apple", "client_id": CLIENT_ID, "team_id": TEAM_ID, "key_id": KEY_ID}
    return {**found, "private_key_file": str(path), **members}


@pytest.fixture
def make_providers_app(make_app: Callable[..., Flask]) -> MakeProvidersApp:
    """Create the service with several providers: `make_providers_app(google={…}, AUTH__X="1")`."""

    def make(**given: Any) -> Flask:
        environment = {name: given.pop(name) for name in list(given) if name.isupper()}
        defaults = {"IDP_REDIRECT_URI": REDIRECT_URI}
        return make_app(AUTH__PROVIDERS=json.dumps(given), **{**defaults, **environment})

    return make


class Guest:
    """A user with a browser who signs in through a named provider."""

    def __init__(self, app: Flask, name: str, user: dict[str, str] | None = None) -> None:
        self.api = Api(app)
        self.name = name
        # The claims of the user's account at the provider.
        self.user = user or {}

    def begin(self, status: int = 302, **query: str) -> str:
        answer = self.api.get(f"/idp/{self.name}/login", status, query_string=query)
        return str(answer.headers.get("Location", ""))

    def finish(self, found: dict[str, str], status: int = 200, **changes: Any) -> Answer:
        body = {name: found[name] for name in ("code", "state", "iss") if name in found} | changes
        return self.api.post(f"/idp/{self.name}/callback", status, json=body)

    def sign_in(self, fake: Fake, status: int = 200, **user: Any) -> Answer:
        return self.finish(fake.authorize(self.begin(), **user), status)
