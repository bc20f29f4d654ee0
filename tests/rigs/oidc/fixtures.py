"""Fixtures: the identity provider, the proxy in front of it, the service, and a user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api

from ..backends import missing
from .glewlwyd import Glewlwyd, running_glewlwyd
from .host import make_host
from .node import CLIENT_SECRET, CannotRun, Provider, running_provider
from .proxy import Proxy
from .visitor import OTHER_REDIRECT_URI, PAGE_REDIRECT_URI, REDIRECT_URI, Visitor


@pytest.fixture(scope="session")
def _provider() -> Iterator[Provider]:
    try:
        uris = [REDIRECT_URI, OTHER_REDIRECT_URI, PAGE_REDIRECT_URI]
        with running_provider(uris) as provider:
            yield provider
    except CannotRun as reason:
        missing(str(reason))


@pytest.fixture(scope="session")
def _proxy(_provider: Provider) -> Iterator[Proxy]:
    proxy = Proxy(_provider.issuer)
    yield proxy
    proxy.down()


@pytest.fixture
def provider(_provider: Provider) -> Iterator[Provider]:
    """The provider, to change its options."""
    yield _provider
    _provider.reset()


@pytest.fixture
def proxy(_proxy: Proxy) -> Iterator[Proxy]:
    """The proxy in front of the provider; its alterations end with the test."""
    yield _proxy
    _proxy.reset()


@pytest.fixture(scope="session")
def glewlwyd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Glewlwyd]:
    """Another real provider."""
    try:
        with running_glewlwyd(tmp_path_factory.mktemp("glewlwyd"), REDIRECT_URI) as provider:
            yield provider
    except CannotRun as reason:
        missing(str(reason))


@pytest.fixture
def make_idp_app(make_app: Callable[..., Flask], proxy: Proxy) -> Callable[..., Flask]:
    """Create the service with sign-in by the provider: `make_idp_app(AUTH__X="1")`."""

    def make(**environment: str) -> Flask:
        defaults = {
            "AUTH__ENABLE_IDP_OAUTH": "true",
            "IDP_METADATA_URL": proxy.metadata_url,
            "IDP_ISSUER": proxy.issuer,
            "IDP_OAUTH_CLIENT_ID": "frontdesk",
            "IDP_OAUTH_CLIENT_SECRET": CLIENT_SECRET,
            "IDP_REDIRECT_URI": REDIRECT_URI,
            "IDP_ALLOWED_REDIRECT_URIS": f'["{OTHER_REDIRECT_URI}"]',
        }
        return make_app(**{**defaults, **environment})

    return make


@pytest.fixture
def make_idp_host(backend: Any, proxy: Proxy) -> Callable[..., Flask]:
    """Create an application with sign-in and sign-up: `make_idp_host(X=1, on_sign_up=listener)`."""

    def make(**given: Any) -> Flask:
        settings = {
            "SECRET_KEY": "another secret key for tests, long enough for HS256",
            "BCRYPT_ROUNDS": 4,
            "ENABLE_IDP_OAUTH": True,
            "ALLOW_IDP_OAUTH_SIGNUP": True,
            "IDP_METADATA_URL": proxy.metadata_url,
            "IDP_ISSUER": proxy.issuer,
            "IDP_OAUTH_CLIENT_ID": "frontdesk",
            "IDP_OAUTH_CLIENT_SECRET": CLIENT_SECRET,
            "IDP_REDIRECT_URI": REDIRECT_URI,
        }
        settings |= {name: given.pop(name) for name in list(given) if name.isupper()}
        return make_host(given.pop("url", backend.database_url), settings, **given)

    return make


@pytest.fixture
def idp_app(make_idp_app: Callable[..., Flask]) -> Flask:
    return make_idp_app()


@pytest.fixture
def visitor(idp_app: Flask) -> Visitor:
    return Visitor(Api(idp_app))
