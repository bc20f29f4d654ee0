"""Showing the token endpoint who we are, to providers that differ in which way they take."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.testing.client import Api

from ..conftest import MakePerson
from ..rigs.oidc.glewlwyd import Glewlwyd, GlewlwydBrowser
from ..rigs.oidc.node import CLIENT_SECRET
from ..rigs.oidc.proxy import TOKEN, Answer, Gate, Proxy
from ..rigs.oidc.visitor import Visitor

# The database has no part in this.
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
        visitor = make_visitor(IDP_METADATA_URL=glewlwyd.metadata_url, **environment)
        visitor.browser = GlewlwydBrowser(glewlwyd)
        return visitor

    return make


def refuse(requests: int, answer: Answer) -> Gate:
    """Turn away so many, whatever they say."""
    left = iter(range(requests))
    return lambda headers, body: None if next(left, None) is None else answer


def refuse_basic(headers: dict[str, str], body: bytes) -> Answer | None:
    return Answer(401) if "Authorization" in headers else None


def test_the_way_that_was_taken_is_remembered(make_visitor: MakeVisitor, proxy: Proxy) -> None:
    visitor = make_visitor()
    proxy.gate(TOKEN, refuse_basic)
    visitor.sign_in("ada")
    assert proxy.calls[TOKEN] == 3
    visitor.sign_in("ada")
    assert proxy.calls[TOKEN] == 4


def test_a_server_that_decodes_cannot_read_what_is_not_encoded(
    make_visitor: MakeVisitor, proxy: Proxy
) -> None:
    proxy.gate(TOKEN, refuse(1, Answer(401)))
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
def test_a_refused_way_leads_to_the_next_with_the_same_code(
    make_visitor: MakeVisitor, proxy: Proxy, refusal: Answer
) -> None:
    visitor = make_visitor()
    proxy.gate(TOKEN, refuse(2, refusal))
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
def test_a_refused_code_is_not_sent_again(
    make_visitor: MakeVisitor, proxy: Proxy, refusal: Answer
) -> None:
    proxy.gate(TOKEN, lambda headers, body: refusal)
    assert make_visitor().sign_in("ada", 400).json["code"] == "sign_in_refused"
    assert proxy.calls[TOKEN] == 1


def test_a_code_that_is_used_up_by_a_refusal_costs_one_sign_in(
    make_visitor: MakeVisitor, proxy: Proxy
) -> None:
    """Some servers look at the code first; that they find fault with it tells the way they take."""
    burn = refuse(1, Answer(400, b'{"error": "invalid_grant"}'))
    visitor = make_visitor()
    proxy.gate(TOKEN, lambda *request: refuse_basic(*request) or burn(*request))
    visitor.sign_in("ada", 400)
    proxy.calls.clear()
    visitor.sign_in("ada")
    assert proxy.calls[TOKEN] == 1


def test_when_no_way_is_taken_the_log_says_each(
    make_visitor: MakeVisitor, proxy: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    proxy.gate(TOKEN, lambda headers, body: Answer(403))
    visitor = make_visitor()
    back = visitor.go("ada")
    assert visitor.finish(back, 502).json["code"] == "provider_unavailable"
    logged = capsys.readouterr().err
    for way in (
        "client_secret_basic: 403 without an error",
        "client_secret_basic without encoding: 403 without an error",
        "client_secret_post: 403 without an error",
    ):
        assert f"The identity provider refused {way}" in logged
    assert CLIENT_SECRET not in logged
    assert back["code"] not in logged


def test_a_secret_that_needs_no_encoding_is_sent_once_by_basic(
    make_visitor: MakeVisitor, proxy: Proxy
) -> None:
    make_visitor(IDP_OAUTH_CLIENT_SECRET="plain").sign_in("ada", 502)
    assert proxy.calls[TOKEN] == 2


def test_a_secret_may_have_any_letters(make_visitor: MakeVisitor, proxy: Proxy) -> None:
    proxy.gate(TOKEN, lambda headers, body: Answer(401))
    make_visitor(IDP_OAUTH_CLIENT_SECRET="пароль €").sign_in("ada", 502)
    assert proxy.calls[TOKEN] == 3


@pytest.mark.parametrize(("client", "calls"), [("by-basic", 2), ("by-post", 3)])
def test_a_server_that_decodes_nothing(
    make_glewlwyd_visitor: MakeVisitor,
    client: str,
    calls: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    visitor = make_glewlwyd_visitor(IDP_OAUTH_CLIENT_ID=client)
    assert visitor.sign_in("ada").json["account"]["email"] == "ada@example.com"
    refused = "The identity provider refused client_secret_basic"
    assert capsys.readouterr().err.count(refused) == calls - 1
    visitor.sign_in("ada")
    assert refused not in capsys.readouterr().err


def test_a_used_code_is_refused_in_that_servers_own_word(
    make_glewlwyd_visitor: MakeVisitor,
) -> None:
    visitor = make_glewlwyd_visitor(IDP_OAUTH_CLIENT_ID="by-basic")
    back = visitor.go("ada")
    visitor.finish(back)
    again = visitor.go("ada") | {"code": back["code"]}
    assert visitor.finish(again, 400).json["code"] == "sign_in_refused"


def test_a_wrong_secret_there(make_glewlwyd_visitor: MakeVisitor) -> None:
    visitor = make_glewlwyd_visitor(
        IDP_OAUTH_CLIENT_ID="by-basic", IDP_OAUTH_CLIENT_SECRET="of another client"
    )
    assert visitor.sign_in("ada", 502).json["code"] == "provider_unavailable"
