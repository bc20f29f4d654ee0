"""ID tokens that are not to be trusted, and keys that change."""

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
from ..rigs.racing import at_once

# The database has no part in this.
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


def test_the_rig_can_sign_tokens_that_are_trusted(
    visitor: Visitor, ada: Person, proxy: Proxy
) -> None:
    """After one that is not, too."""
    proxy.alter_id_token(with_claims(aud="somebody-else"))
    visitor.sign_in("ada", 400)
    proxy.alter_id_token(with_claims(exp=time.time() + 60))
    visitor.sign_in("ada")


@for_each(
    "change",
    [
        with_claims(aud="somebody-else"),
        with_claims(aud="somebody-else", azp="frontdesk"),
        with_claims(aud=["frontdesk", "somebody-else"]),
        with_claims(aud=["frontdesk", "somebody-else"], azp="somebody-else"),
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
def test_wrong_claims(visitor: Visitor, ada: Person, proxy: Proxy, change: Change) -> None:
    proxy.alter_id_token(change)
    assert visitor.sign_in("ada", 400).json["code"] == "sign_in_refused"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_claims(aud="somebody-else"), "aud is 'somebody-else', expected 'frontdesk'"),
        (with_claims(iss="https://elsewhere"), "iss is 'https://elsewhere', expected 'http://127"),
        (with_claims(exp=1_700_000_000), "exp is 1700000000, expected a moment that fits 1"),
        (without("sub"), "sub is None, expected a text"),
        (with_claims(nonce="of another one"), "nonce is missing or not the expected one"),
    ],
)
def test_what_was_refused_is_told_to_the_log(
    make_idp_app: Callable[..., Flask],
    proxy: Proxy,
    capsys: pytest.CaptureFixture[str],
    change: Change,
    said: str,
) -> None:
    visitor = Visitor(Api(make_idp_app()))
    proxy.alter_id_token(change)
    request_id = visitor.sign_in("ada", 400).headers["X-Request-ID"]
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "was refused" in line]
    assert said in line
    assert f'"request_id":"{request_id}"' in line
    assert "of another one" not in line


def test_a_key_that_the_provider_does_not_publish(
    visitor: Visitor, ada: Person, proxy: Proxy
) -> None:
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
        lambda token: "nonsense",
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
def test_what_is_no_token(
    visitor: Visitor, ada: Person, proxy: Proxy, change: Callable[[str], str]
) -> None:
    proxy.replace_id_token(change)
    assert visitor.sign_in("ada", 400).json["code"] == "sign_in_refused"


def test_a_provider_that_lists_none_as_an_algorithm(
    make_idp_app: Callable[..., Flask], person: MakePerson, proxy: Proxy
) -> None:
    """Authlib takes the algorithms that it accepts from the discovery document."""
    proxy.alter_json(
        "/.well-known/openid-configuration",
        lambda document: document | {"id_token_signing_alg_values_supported": ["none", "RS256"]},
    )
    app = make_idp_app()
    person("ada", into=app)
    proxy.replace_id_token(other_header('{"alg":"none"}'))
    Visitor(Api(app)).sign_in("ada", 400)


class TestKeys:
    def test_they_are_fetched_once(self, visitor: Visitor, ada: Person, proxy: Proxy) -> None:
        proxy.calls.clear()
        visitor.sign_in("ada")
        visitor.sign_in("ada")
        assert proxy.calls[KEYS] == 1
        assert proxy.calls["/.well-known/openid-configuration"] == 1

    @pytest.mark.parametrize("keep_ids", [False, True])
    def test_they_may_change_in_the_middle_of_a_sign_in(
        self, visitor: Visitor, ada: Person, provider: Provider, proxy: Proxy, keep_ids: bool
    ) -> None:
        visitor.sign_in("ada")
        back = visitor.go("ada")
        provider.rotate_keys(keep_ids=keep_ids)
        visitor.finish(back)
        assert proxy.calls[KEYS] == 2

    def test_nonsense_is_not_kept_for_keys(
        self, visitor: Visitor, ada: Person, proxy: Proxy
    ) -> None:
        proxy.answer(KEYS, Answer(200, b'{"keys": [{"kty": "RSA"}]}'))
        visitor.sign_in("ada", 502)
        proxy.reset()
        visitor.sign_in("ada")


def announced(*algorithms: str) -> Callable[[Any], Any]:
    return lambda document: document | {"id_token_signing_alg_values_supported": [*algorithms]}


class TestChangedMetadata:
    """The discovery document is kept for an hour, or until a token cannot be verified by it."""

    @pytest.fixture
    def signed_in_once(self, visitor: Visitor, ada: Person, proxy: Proxy) -> Visitor:
        proxy.alter_json(DISCOVERY, announced("RS256"))
        visitor.sign_in("ada")
        proxy.calls.clear()
        return visitor

    def test_a_newly_announced_algorithm_is_accepted_at_once(
        self, signed_in_once: Visitor, proxy: Proxy
    ) -> None:
        back = signed_in_once.go("ada")
        proxy.alter_json(DISCOVERY, announced("RS256", "ES256"))
        proxy.alter_id_token(with_claims(), algorithm="ES256")
        signed_in_once.finish(back)
        signed_in_once.sign_in("ada")
        assert proxy.calls[DISCOVERY] == 1

    def test_keys_at_a_new_address_are_found(self, signed_in_once: Visitor, proxy: Proxy) -> None:
        proxy.alter_json(DISCOVERY, lambda document: document | {"jwks_uri": f"{proxy.url}/moved"})
        proxy.alter_id_token(with_claims(), publish_key=False)
        proxy.answer("/moved", Answer(200, json.dumps(proxy.key_set()).encode()))
        signed_in_once.sign_in("ada")
        assert proxy.calls[DISCOVERY] == 1

    def test_metadata_is_fetched_again_once_a_minute_at_most(
        self, signed_in_once: Visitor, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proxy.alter_id_token(with_claims(), algorithm="ES256")
        for _ in range(3):
            assert signed_in_once.sign_in("ada", 400).json["code"] == "sign_in_refused"
        assert proxy.calls[DISCOVERY] == 1
        moment = time.monotonic() + REFETCH_SECONDS
        monkeypatch.setattr("app.auth.idp.oidc.time.monotonic", lambda: moment)
        proxy.alter_json(DISCOVERY, announced("RS256", "ES256"))
        signed_in_once.sign_in("ada")
        assert proxy.calls[DISCOVERY] == 2

    def test_sign_ins_at_the_same_time_share_one_fetch(
        self, signed_in_once: Visitor, idp_app: Flask, proxy: Proxy
    ) -> None:
        visitors = [Visitor(Api(idp_app)) for _ in range(3)]
        backs = [visitor.go("ada") for visitor in visitors]
        proxy.alter_json(DISCOVERY, announced("RS256", "ES256"))
        proxy.alter_id_token(with_claims(), algorithm="ES256")
        together = Barrier(3)

        def wait_for_the_others(_headers: dict[str, str], _body: bytes) -> None:
            together.wait(10)

        proxy.gate(TOKEN, wait_for_the_others)

        def finishing(visitor: Visitor, back: dict[str, str]) -> Callable[[], int]:
            return lambda: visitor.finish(back).response.status_code

        assert at_once(*map(finishing, visitors, backs)) == [200] * 3
        assert proxy.calls[DISCOVERY] == 1

    def test_metadata_out_of_reach_leaves_the_known_one(
        self, signed_in_once: Visitor, proxy: Proxy
    ) -> None:
        proxy.alter_id_token(with_claims(), algorithm="ES256")
        proxy.answer(DISCOVERY, Answer(503))
        signed_in_once.sign_in("ada", 502)
        proxy.alter_id_token(with_claims())
        signed_in_once.sign_in("ada")


class TestUserInfo:
    def test_it_must_be_about_the_same_person(
        self, visitor: Visitor, ada: Person, proxy: Proxy
    ) -> None:
        proxy.alter_json(USERINFO, lambda document: document | {"sub": "mallory"})
        assert visitor.sign_in("ada", 400).json["code"] == "sign_in_refused"

    @for_each("verified", ["true", "True", 1, [True], {"": True}, None, False, "false"])
    def test_verified_is_true_and_nothing_else(
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
    def test_what_is_no_email(
        self, visitor: Visitor, ada: Person, proxy: Proxy, email: Any
    ) -> None:
        proxy.alter_json(USERINFO, lambda document: document | {"email": email})
        assert visitor.sign_in("ada", 400).json["code"] == "email_not_verified"

    def test_it_does_not_vouch_for_the_email_of_the_id_token(
        self, visitor: Visitor, ada: Person, proxy: Proxy
    ) -> None:
        """An unverified address must not be taken for the verified one of another document."""
        proxy.alter_id_token(with_claims(email="ada@example.com"))
        proxy.alter_json(USERINFO, lambda document: {"sub": "eve", "email_verified": True})
        assert visitor.sign_in("eve", 400).json["code"] == "email_not_verified"


def test_a_token_answer_without_an_id_token(visitor: Visitor, ada: Person, proxy: Proxy) -> None:
    proxy.alter_json(TOKEN, without("id_token"))
    visitor.sign_in("ada", 502)
