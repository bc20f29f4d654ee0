"""Client authentication at the token endpoint: fallbacks for providers with different methods."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.testing.client import Api

from ..conftest import MakePerson
from ..rigs.oidc.glewlwyd import Glewlwyd, GlewlwydBrowser
from ..rigs.oidc.node import CLIENT_SECRET
from ..rigs.oidc.proxy import TOKEN, Answer, Interceptor, Proxy
from ..rigs.oidc.visitor import Visitor

# The database does not matter here.
pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

MakeApp = Callable[..., Flask]
MakeVisitor = Callable[..., Visitor]


@pytest.fixture
def make_visitor(make_idp_app: MakeApp, person: MakePerson) -> MakeVisitor:
    def make(**environment: str) -> Visitor:
        app = make_idp_app(**environment)
        person("ada", into=app)
        return Visitor(Api(app))

    return make


@pytest.fixture
def make_glewlwyd_visitor(make_visitor: MakeVisitor, glewlwyd: Glewlwyd) -> MakeVisitor:
    def make(**environment: str) -> Visitor:
        # The default of IDP_ISSUER is the URL of the document without its well-known part.
        provider = {"IDP_METADATA_URL": glewlwyd.metadata_url, "IDP_ISSUER": ""}
        visitor = make_visitor(**provider, **environment)
        visitor.browser = GlewlwydBrowser(glewlwyd)
        return visitor

    return make


def reject(requests: int, answer: Answer) -> Interceptor:
    """Reject the first `requests` requests with `answer`."""
    remaining = iter(range(requests))
    return lambda headers, body: None if next(remaining, None) is None else answer


def reject_basic(headers: dict[str, str], body: bytes) -> Answer | None:
    return Answer(401) if "Authorization" in headers else None


def test_working_method_is_remembered(make_visitor: MakeVisitor, proxy: Proxy) -> None:
    visitor = make_visitor()
    proxy.intercept(TOKEN, reject_basic)
    visitor.sign_in("ada")
    assert proxy.calls[TOKEN] == 3
    visitor.sign_in("ada")
    assert proxy.calls[TOKEN] == 4


def test_credentials_are_sent_unencoded_after_a_rejection(
    make_visitor: MakeVisitor, proxy: Proxy
) -> None:
    proxy.intercept(TOKEN, reject(1, Answer(401)))
    make_visitor().sign_in("ada")
    assert proxy.calls[TOKEN] == 3


@pytest.mark.parametrize(
    "refusal",
    [
        Answer(400, b'{"error": "invalid_client"}'),
        Answer(400, b'{"error": "unauthorized_client"}'),
        Answer(401, b'{"error": "unauthorized_client"}'),
        Answer(401, b'{"error": "access_denied", "error_description": "Unauthorized"}'),
        Answer(401),
        Answer(401, b"{}"),
        Answer(403),
        Answer(403, b"<html>Forbidden</html>"),
        Answer(403, b'["no"]'),
        Answer(403, b'{"error": 7}'),
    ],
)
def test_rejected_method_falls_back_to_the_next_with_the_same_code(
    make_visitor: MakeVisitor, proxy: Proxy, refusal: Answer
) -> None:
    visitor = make_visitor()
    proxy.intercept(TOKEN, reject(2, refusal))
    visitor.sign_in("ada")
    assert proxy.calls[TOKEN] == 3


@pytest.mark.parametrize(
    "refusal",
    [
        Answer(400, b'{"error": "invalid_grant"}'),
        Answer(401, b'{"error": "invalid_grant"}'),
        Answer(403, b'{"error": "invalid_code"}'),
        Answer(400, b'{"error": "access_denied"}'),
    ],
)
def test_rejected_code_is_not_sent_again(
    make_visitor: MakeVisitor, proxy: Proxy, refusal: Answer
) -> None:
    proxy.intercept(TOKEN, lambda headers, body: refusal)
    assert make_visitor().sign_in("ada", 400).json["code"] == "sign_in_refused"
    assert proxy.calls[TOKEN] == 1


def test_code_consumed_by_a_rejection_fails_one_sign_in(
    make_visitor: MakeVisitor, proxy: Proxy
) -> None:
    """Some servers check the code first; an error about the code means that the method works."""
    reject_code = reject(1, Answer(400, b'{"error": "invalid_grant"}'))
    visitor = make_visitor()
    proxy.intercept(TOKEN, lambda *request: reject_basic(*request) or reject_code(*request))
    visitor.sign_in("ada", 400)
    proxy.calls.clear()
    visitor.sign_in("ada")
    assert proxy.calls[TOKEN] == 1


def test_log_names_every_rejected_method(
    make_visitor: MakeVisitor, proxy: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    proxy.intercept(TOKEN, lambda headers, body: Answer(403))
    visitor = make_visitor()
    callback = visitor.go("ada")
    assert visitor.finish(callback, 502).json["code"] == "provider_unavailable"
    logged = capsys.readouterr().err
    for method in (
        "client_secret_basic: 403 without an error",
        "client_secret_basic without encoding: 403 without an error",
        "client_secret_post: 403 without an error",
    ):
        assert f"The identity provider rejected {method}" in logged
    assert CLIENT_SECRET not in logged
    assert callback["code"] not in logged


def test_secret_that_needs_no_encoding_is_sent_once_by_basic(
    make_visitor: MakeVisitor, proxy: Proxy
) -> None:
    make_visitor(IDP_OAUTH_CLIENT_SECRET="plain").sign_in("ada", 502)
    assert proxy.calls[TOKEN] == 2


def test_secret_can_have_any_characters(make_visitor: MakeVisitor, proxy: Proxy) -> None:
    proxy.intercept(TOKEN, lambda headers, body: Answer(401))
    make_visitor(IDP_OAUTH_CLIENT_SECRET="пароль €").sign_in("ada", 502)
    assert proxy.calls[TOKEN] == 3


@pytest.mark.parametrize(("client", "calls"), [("by-basic", 2), ("by-post", 3)])
def test_server_that_does_not_decode_credentials(
    make_glewlwyd_visitor: MakeVisitor, client: str, calls: int, capsys: pytest.CaptureFixture[str]
) -> None:
    visitor = make_glewlwyd_visitor(IDP_OAUTH_CLIENT_ID=client)
    assert visitor.sign_in("ada").json["account"]["email"] == "ada@example.com"
    refused = "The identity provider rejected client_secret_basic"
    assert capsys.readouterr().err.count(refused) == calls - 1
    visitor.sign_in("ada")
    assert refused not in capsys.readouterr().err


def test_reused_code_is_rejected_by_another_providers_error_code(
    make_glewlwyd_visitor: MakeVisitor,
) -> None:
    visitor = make_glewlwyd_visitor(IDP_OAUTH_CLIENT_ID="by-basic")
    callback = visitor.go("ada")
    visitor.finish(callback)
    again = visitor.go("ada") | {"code": callback["code"]}
    assert visitor.finish(again, 400).json["code"] == "sign_in_refused"


def test_wrong_secret_is_provider_unavailable(make_glewlwyd_visitor: MakeVisitor) -> None:
    visitor = make_glewlwyd_visitor(
        IDP_OAUTH_CLIENT_ID="by-basic", IDP_OAUTH_CLIENT_SECRET="secret of another client"
    )
    assert visitor.sign_in("ada", 502).json["code"] == "provider_unavailable"
