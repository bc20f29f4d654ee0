"""ID tokens: invalid tokens are rejected, and rotated keys and changed metadata are fetched."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from flask import Flask

from app.auth.idp.oidc import REFETCH_SECONDS
from app.testing.client import Api

from ..conftest import MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.oidc.node import Provider
from ..rigs.oidc.proxy import DISCOVERY, KEYS, TOKEN, USERINFO, Answer, Claims, Proxy
from ..rigs.oidc.visitor import Visitor
from ..rigs.racing import run_concurrently

# The database does not matter here.
pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

Change = Callable[[Claims], Claims]


@pytest.fixture
def ada(idp_app: Flask, person: MakePerson) -> Person:
    return person("ada", into=idp_app)


def with_claims(**changes: Any) -> Change:
    return partial(dict, **changes)


def _without(name: str, claims: Claims) -> Claims:
    return {key: value for key, value in claims.items() if key != name}


def without(name: str) -> Change:
    return partial(_without, name)


def test_valid_token_is_accepted(visitor: Visitor, ada: Person, proxy: Proxy) -> None:
    """The proxy's tokens are accepted, also after an invalid one."""
    proxy.alter_id_token(with_claims(aud="another-client"))
    visitor.sign_in("ada", 400)
    proxy.alter_id_token(with_claims(exp=time.time() + 60))
    visitor.sign_in("ada")


@for_each(
    "change",
    [
        with_claims(aud="another-client"),
        with_claims(aud="another-client", azp="frontdesk"),
        with_claims(aud=["frontdesk", "another-client"]),
        with_claims(aud=["frontdesk", "another-client"], azp="another-client"),
        with_claims(aud=None),
        without("aud"),
        with_claims(iss="https://elsewhere.example.com"),
        without("iss"),
        with_claims(nonce="of another sign-in"),
        without("nonce"),
        with_claims(nonce=None, nonce_supported=False),
        with_claims(exp=time.time() - 60),
        with_claims(exp="soon"),
        with_claims(exp=None),
        with_claims(exp=True),
        without("exp"),
        with_claims(iat=time.time() + 3600),
        with_claims(nbf=time.time() + 3600),
        with_claims(sub=7),
        with_claims(sub=""),
        with_claims(sub="a\x00"),
        with_claims(sub="x" * 256),
        without("sub"),
    ],
)
def test_invalid_claims_are_rejected(
    visitor: Visitor, ada: Person, proxy: Proxy, change: Change
) -> None:
    proxy.alter_id_token(change)
    assert visitor.sign_in("ada", 400).json["code"] == "sign_in_refused"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (with_claims(aud="another-client"), "aud is 'another-client', expected 'frontdesk'"),
        (with_claims(iss="https://elsewhere"), "iss is 'https://elsewhere', expected 'http://127"),
        (with_claims(exp=1_700_000_000), "exp is 1700000000, expected a time that fits 1"),
        (without("sub"), "sub is None, expected a string"),
        (with_claims(nonce="of another one"), "nonce is missing or not the expected one"),
    ],
)
def test_rejection_is_logged_with_the_reason(
    make_idp_app: Callable[..., Flask],
    proxy: Proxy,
    capsys: pytest.CaptureFixture[str],
    change: Change,
    expected: str,
) -> None:
    visitor = Visitor(Api(make_idp_app()))
    proxy.alter_id_token(change)
    request_id = visitor.sign_in("ada", 400).headers["X-Request-ID"]
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "was rejected" in line]
    assert expected in line
    assert f'"request_id":"{request_id}"' in line
    assert "of another one" not in line


ANY_TENANT = "https://login.example.com/{tenantid}/v2.0"
OUR_TENANT = "https://login.example.com/ours/v2.0"


@pytest.mark.parametrize(
    ("issuer", "tenant", "status"),
    [
        ("", "ours", 502),
        ("https://login.example.com", "ours", 502),
        (OUR_TENANT, "ours", 200),
        (OUR_TENANT, "theirs", 400),
        (ANY_TENANT, "ours", 200),
        (ANY_TENANT, "theirs", 200),
    ],
)
def test_issuer_of_a_tenant_must_be_configured(
    make_idp_app: Callable[..., Flask],
    person: MakePerson,
    proxy: Proxy,
    issuer: str,
    tenant: str,
    status: int,
) -> None:
    app = make_idp_app(IDP_ISSUER=issuer)
    person("ada", into=app)
    proxy.alter_json(DISCOVERY, lambda document: document | {"issuer": ANY_TENANT})
    named = ANY_TENANT.format(tenantid=tenant)
    proxy.alter_id_token(with_claims(iss=named, tid=tenant))
    visitor = Visitor(Api(app))
    if status == 502:
        visitor.api.get("/idp/login", status)
        return
    visitor.sign_in("ada", status)


@pytest.mark.parametrize("changes", [{"tid": "theirs"}, {"tid": None}, {"iss": ANY_TENANT}])
def test_issuer_of_a_token_must_have_its_tenant(
    make_idp_app: Callable[..., Flask], proxy: Proxy, changes: Claims
) -> None:
    proxy.alter_json(DISCOVERY, lambda document: document | {"issuer": ANY_TENANT})
    proxy.alter_id_token(with_claims(**{"iss": OUR_TENANT, "tid": "ours"} | changes))
    visitor = Visitor(Api(make_idp_app(IDP_ISSUER=ANY_TENANT)))
    assert visitor.sign_in("ada", 400).json["code"] == "sign_in_refused"


def test_unpublished_key_is_rejected(visitor: Visitor, ada: Person, proxy: Proxy) -> None:
    proxy.alter_id_token(with_claims(), publish_key=False)
    assert visitor.sign_in("ada", 400).json["code"] == "sign_in_refused"


def part(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def other_header(header: str, signature: str = "") -> Callable[[str], str]:
    return lambda token: ".".join([part(header), token.split(".")[1], signature])


@pytest.mark.parametrize(
    "change",
    [
        lambda token: "",
        lambda token: "malformed",
        lambda token: "a.b.c",
        lambda token: "é.é.é",
        lambda token: token + "AAAA",
        lambda token: token.rsplit(".", 1)[0] + ".",
        other_header('{"alg":"none"}'),
        other_header('{"alg":"None"}'),
        other_header('{"alg":"HS256"}', "c2ln"),
        other_header('{"alg":["RS256"]}', "c2ln"),
        other_header('{"alg":"RS256","crit":["x"],"x":1}', "c2ln"),
        other_header("[" * 300, "c2ln"),
        other_header("7", "c2ln"),
    ],
)
def test_malformed_token_is_rejected(
    visitor: Visitor, ada: Person, proxy: Proxy, change: Callable[[str], str]
) -> None:
    proxy.replace_id_token(change)
    assert visitor.sign_in("ada", 400).json["code"] == "sign_in_refused"


def test_algorithm_none_is_rejected_even_if_the_provider_lists_it(
    make_idp_app: Callable[..., Flask], person: MakePerson, proxy: Proxy
) -> None:
    """Authlib reads the accepted algorithms from the discovery document."""
    proxy.alter_json(
        "/.well-known/openid-configuration",
        lambda document: document | {"id_token_signing_alg_values_supported": ["none", "RS256"]},
    )
    app = make_idp_app()
    person("ada", into=app)
    proxy.replace_id_token(other_header('{"alg":"none"}'))
    Visitor(Api(app)).sign_in("ada", 400)


class TestKeys:
    def test_keys_are_fetched_once(self, visitor: Visitor, ada: Person, proxy: Proxy) -> None:
        proxy.calls.clear()
        visitor.sign_in("ada")
        visitor.sign_in("ada")
        assert proxy.calls[KEYS] == 1
        assert proxy.calls["/.well-known/openid-configuration"] == 1

    @pytest.mark.parametrize("keep_ids", [False, True])
    def test_keys_can_rotate_during_a_sign_in(
        self, visitor: Visitor, ada: Person, provider: Provider, proxy: Proxy, keep_ids: bool
    ) -> None:
        visitor.sign_in("ada")
        callback = visitor.go("ada")
        provider.rotate_keys(keep_ids=keep_ids)
        visitor.finish(callback)
        assert proxy.calls[KEYS] == 2

    def test_invalid_keys_are_not_cached(self, visitor: Visitor, ada: Person, proxy: Proxy) -> None:
        proxy.answer(KEYS, Answer(200, b'{"keys": [{"kty": "RSA"}]}'))
        visitor.sign_in("ada", 502)
        proxy.reset()
        visitor.sign_in("ada")


def with_algorithms(*algorithms: str) -> Callable[[Any], Any]:
    return lambda document: document | {"id_token_signing_alg_values_supported": [*algorithms]}


class TestChangedMetadata:
    """The discovery document is cached for an hour, or until a token cannot be verified with it."""

    @pytest.fixture
    def visitor_with_cached_metadata(self, visitor: Visitor, ada: Person, proxy: Proxy) -> Visitor:
        proxy.alter_json(DISCOVERY, with_algorithms("RS256"))
        visitor.sign_in("ada")
        proxy.calls.clear()
        return visitor

    def test_new_algorithm_is_accepted_immediately(
        self, visitor_with_cached_metadata: Visitor, proxy: Proxy
    ) -> None:
        callback = visitor_with_cached_metadata.go("ada")
        proxy.alter_json(DISCOVERY, with_algorithms("RS256", "ES256"))
        proxy.alter_id_token(with_claims(), algorithm="ES256")
        visitor_with_cached_metadata.finish(callback)
        visitor_with_cached_metadata.sign_in("ada")
        assert proxy.calls[DISCOVERY] == 1

    def test_keys_at_a_new_url_are_found(
        self, visitor_with_cached_metadata: Visitor, proxy: Proxy
    ) -> None:
        proxy.alter_json(DISCOVERY, lambda document: document | {"jwks_uri": f"{proxy.url}/moved"})
        proxy.alter_id_token(with_claims(), publish_key=False)
        proxy.answer("/moved", Answer(200, json.dumps(proxy.key_set()).encode()))
        visitor_with_cached_metadata.sign_in("ada")
        assert proxy.calls[DISCOVERY] == 1

    def test_metadata_is_fetched_again_at_most_once_a_minute(
        self, visitor_with_cached_metadata: Visitor, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proxy.alter_id_token(with_claims(), algorithm="ES256")
        for _ in range(3):
            assert (
                visitor_with_cached_metadata.sign_in("ada", 400).json["code"] == "sign_in_refused"
            )
        assert proxy.calls[DISCOVERY] == 1
        moment = time.monotonic() + REFETCH_SECONDS
        monkeypatch.setattr("app.auth.idp.oidc.time.monotonic", lambda: moment)
        proxy.alter_json(DISCOVERY, with_algorithms("RS256", "ES256"))
        visitor_with_cached_metadata.sign_in("ada")
        assert proxy.calls[DISCOVERY] == 2

    def test_concurrent_sign_ins_share_one_fetch(
        self, visitor_with_cached_metadata: Visitor, idp_app: Flask, proxy: Proxy
    ) -> None:
        visitors = [Visitor(Api(idp_app)) for _ in range(3)]
        callbacks = [visitor.go("ada") for visitor in visitors]
        proxy.alter_json(DISCOVERY, with_algorithms("RS256", "ES256"))
        proxy.alter_id_token(with_claims(), algorithm="ES256")
        barrier = Barrier(3)

        def wait_for_the_others(_headers: dict[str, str], _body: bytes) -> None:
            barrier.wait(10)

        proxy.intercept(TOKEN, wait_for_the_others)

        def make_finish(visitor: Visitor, callback: dict[str, str]) -> Callable[[], int]:
            return lambda: visitor.finish(callback).response.status_code

        assert run_concurrently(*map(make_finish, visitors, callbacks)) == [200] * 3
        assert proxy.calls[DISCOVERY] == 1

    def test_unreachable_metadata_keeps_the_cached_document(
        self, visitor_with_cached_metadata: Visitor, proxy: Proxy
    ) -> None:
        proxy.alter_id_token(with_claims(), algorithm="ES256")
        proxy.answer(DISCOVERY, Answer(503))
        visitor_with_cached_metadata.sign_in("ada", 502)
        proxy.alter_id_token(with_claims())
        visitor_with_cached_metadata.sign_in("ada")


class TestUserInfo:
    def test_user_info_must_have_the_same_subject(
        self, visitor: Visitor, ada: Person, proxy: Proxy
    ) -> None:
        proxy.alter_json(USERINFO, lambda document: document | {"sub": "mallory"})
        assert visitor.sign_in("ada", 400).json["code"] == "sign_in_refused"

    @for_each("verified", ["true", "True", 1, [True], {"": True}, None, False, "false"])
    def test_only_true_means_a_verified_email(
        self,
        visitor: Visitor,
        ada: Person,
        proxy: Proxy,
        verified: Any,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        proxy.alter_json(USERINFO, lambda document: document | {"email_verified": verified})
        assert visitor.sign_in("ada", 400).json["code"] == "email_not_verified"
        assert f"email_verified is {verified!r}, expected True" in caplog.text

    @for_each(
        "email",
        [None, 7, "", "ada", ["ada@example.com"], "ada@example.com\x00", "\ud800@example.com"],
    )
    def test_invalid_email_is_rejected(
        self, visitor: Visitor, ada: Person, proxy: Proxy, email: Any
    ) -> None:
        proxy.alter_json(USERINFO, lambda document: document | {"email": email})
        assert visitor.sign_in("ada", 400).json["code"] == "email_not_verified"

    def test_user_info_does_not_verify_the_email_of_the_id_token(
        self, visitor: Visitor, ada: Person, proxy: Proxy
    ) -> None:
        """An unverified email must not be combined with `email_verified` of another document."""
        proxy.alter_id_token(with_claims(email="ada@example.com"))
        proxy.alter_json(USERINFO, lambda document: {"sub": "eve", "email_verified": True})
        assert visitor.sign_in("eve", 400).json["code"] == "email_not_verified"


def test_token_response_without_an_id_token_is_a_502(
    visitor: Visitor, ada: Person, proxy: Proxy
) -> None:
    proxy.alter_json(TOKEN, without("id_token"))
    visitor.sign_in("ada", 502)
