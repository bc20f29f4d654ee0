"""Access tokens that are signed with a key, and the published keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from flask import Flask
from joserfc.jwk import KeySet

from app.core.config.environment import SettingsError
from app.extension.production import find_misconfigurations
from app.testing.client import Api

from ..conftest import SECRET, MakeApp, Person, only_on
from ..rigs.cases import for_each
from ..rigs.signing_keys import (
    EDDSA,
    ES256,
    STRANGE,
    Jwk,
    forged_header,
    key_set,
    public,
    signed,
    signed_with_secret,
)

pytestmark = only_on("sqlite")

JWKS = "/.well-known/jwks.json"
BOTH = key_set(ES256, EDDSA)


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__SIGNING_KEYS=BOTH)


@for_each("keys", [(ES256, EDDSA), (EDDSA, ES256), (ES256, public(EDDSA))])
def test_first_key_signs_and_all_keys_verify(
    make_app: MakeApp, ada: Person, keys: tuple[Jwk, Jwk]
) -> None:
    app = make_app(AUTH__SIGNING_KEYS=key_set(*keys))
    token = Person(app, ada.id, ada.email).token()
    first = keys[0]
    header = {"alg": first["alg"], "kid": first["kid"], "typ": "JWT"}
    assert jwt.get_unverified_header(token) == header
    for each in (token, signed(ES256), signed(EDDSA)):
        Api(app, token=each).get("/account")


PUBLIC_KEY: Any = jwt.PyJWK(public(ES256)).key
PEM = PUBLIC_KEY.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
DER = PUBLIC_KEY.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
SECRETS = [PEM, PEM.strip(), DER, json.dumps(public(ES256)).encode(), ES256["x"].encode(), b""]


@for_each(
    "token",
    [
        # The key is unknown, or another, or not the one of the algorithm.
        signed(STRANGE),
        signed(STRANGE, kid=ES256["kid"]),
        signed(ES256, kid=EDDSA["kid"]),
        signed(EDDSA, kid=ES256["kid"]),
        signed(ES256, kid=f"{ES256['kid']}="),
        forged_header(signed(ES256), alg="none"),
        forged_header(signed(ES256), alg="EdDSA"),
        forged_header(signed(ES256), alg="ES384"),
        forged_header(signed(ES256), kid=7),
        forged_header(signed(ES256), kid=[ES256["kid"]]),
        forged_header(signed(ES256), kid={"kid": ES256["kid"]}),
        # Without a `kid`, a token must be signed with the secret key.
        forged_header(signed(ES256), kid=None),
        forged_header(signed(ES256), kid=""),
        jwt.encode({"sub": "ada@example.com", "exp": 2**40}, jwt.PyJWK(ES256).key, "ES256"),
        # The header brings a key, or says where one is.
        signed(STRANGE, jwk=public(STRANGE)),
        signed(STRANGE, kid=ES256["kid"], jwk=public(STRANGE)),
        signed(ES256, jwk=public(ES256)),
        signed(ES256, jku="http://127.0.0.1/.well-known/jwks.json"),
        signed(ES256, x5u="http://127.0.0.1/certificate.pem"),
        signed(ES256, x5c=["MIIB"]),
        signed(ES256, crit=["exp"], exp=1),
        signed(ES256, typ="refresh+jwt"),
        # HS256 with the `kid` of a key, or with a public key as the secret.
        signed_with_secret(SECRET.encode(), kid=ES256["kid"]),
        signed_with_secret(SECRET.encode(), kid="1"),
        *(signed_with_secret(secret) for secret in SECRETS),
        *(signed_with_secret(secret, kid=ES256["kid"]) for secret in SECRETS),
        *(signed_with_secret(secret, alg="ES256", kid=ES256["kid"]) for secret in SECRETS),
    ],
)
def test_forged_token_is_rejected(app: Flask, ada: Person, token: str) -> None:
    assert Api(app, token=token).get("/account", 401).json["code"] == "invalid_credentials"


def test_hs256_is_accepted_until_its_setting_is_off(make_app: MakeApp, ada: Person) -> None:
    secret = signed_with_secret(SECRET.encode())
    Api(ada.app, token=secret).get("/account")
    app = make_app(AUTH__SIGNING_KEYS=BOTH, AUTH__ACCEPT_HS256="false")
    Api(app, token=secret).get("/account", 401)
    Api(app, token=signed(ES256)).get("/account")
    # Without signing keys, the setting has no effect.
    Api(make_app(AUTH__ACCEPT_HS256="false"), token=secret).get("/account")


def test_only_public_parts_are_published_and_cached(app: Flask) -> None:
    response = Api(app, "").get(JWKS)
    keys = response.json["keys"]
    assert keys == [public(ES256), public(EDDSA)]
    assert [each.thumbprint() for each in KeySet.import_key_set({"keys": keys})] == [
        each["kid"] for each in keys
    ]
    assert response.headers["Cache-Control"] == "public, max-age=300"
    sent = {"If-None-Match": response.headers["ETag"]}
    assert Api(app, "").get(JWKS, 304, headers=sent).response.data == b""


def test_without_keys_the_published_set_is_off(make_app: MakeApp) -> None:
    assert Api(make_app(), "").get(JWKS, 404).json["code"] == "feature_off"


RSA = {"kty": "RSA", "n": "AQAB", "e": "AQAB", "d": "AQAB"}
PRIVATE_PEM = (
    jwt.PyJWK(ES256).key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
)
NOT_ALLOWED = "that is neither for ES256 nor for EdDSA (Ed25519)."


@for_each(
    ("keys", "reason"),
    [
        ("{", 'is not a JWK set, {"keys": […]}.'),
        ("{}", 'is not a JWK set, {"keys": […]}.'),
        ("[" * 100_000, 'is not a JWK set, {"keys": […]}.'),
        (PRIVATE_PEM, 'is not a JWK set, {"keys": […]}.'),
        ('{"keys": {}}', "has no keys."),
        (key_set(), "has no keys."),
        (key_set("x"), f"has a key 1 {NOT_ALLOWED}"),
        (key_set({"kty": "oct", "k": "c2VjcmV0"}), f"has a key 1 {NOT_ALLOWED}"),
        (key_set(RSA), f"has a key 1 {NOT_ALLOWED}"),
        (key_set(ES256, RSA), f"has a key 2 {NOT_ALLOWED}"),
        (key_set(ES256 | {"crv": "P-384"}), f"has a key 1 {NOT_ALLOWED}"),
        (key_set(ES256 | {"alg": "RS256"}), f"has a key 1 {NOT_ALLOWED}"),
        (key_set(ES256 | {"kty": ["EC"]}), f"has a key 1 {NOT_ALLOWED}"),
        (key_set(ES256 | {"d": None}), "has a key 1 that is not a valid JWK."),
        (key_set(ES256 | {"d": STRANGE["d"]}), "has a key 1 that is not a valid JWK."),
        (key_set(ES256 | {"x": EDDSA["x"]}), "has a key 1 that is not a valid JWK."),
        (key_set(EDDSA | {"x": "short"}), "has a key 1 that is not a valid JWK."),
        (
            key_set(ES256 | {"kid": "mine"}),
            f"has a key 1 whose `kid` is not its RFC 7638 thumbprint, {ES256['kid']}.",
        ),
        (key_set(public(ES256)), "has a first key without its private part `d`"),
        (key_set(ES256, EDDSA, public(ES256)), f"has the key {ES256['kid']} twice."),
        ("missing.json", "cannot be read: No such file or directory."),
    ],
)
def test_unusable_keys_stop_the_start(make_app: MakeApp, keys: str, reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        make_app(AUTH__SIGNING_KEYS=keys)
    assert str(caught.value).startswith("AUTH.SIGNING_KEYS ")
    assert reason in str(caught.value)
    assert ES256["d"] not in str(caught.value)


def test_file_is_read_and_its_exposure_is_reported(make_app: MakeApp, tmp_path: Path) -> None:
    path = tmp_path / "open" / "keys.json"
    path.parent.mkdir(0o755)
    path.write_text(BOTH)
    path.chmod(0o640)
    app = make_app(AUTH__SIGNING_KEYS=str(path))
    assert len(Api(app, "").get(JWKS).json["keys"]) == 2
    with app.app_context():
        problem = f"Other users of this machine can read {path}"
        context = app.extensions["frontdesk"]
        assert any(each.startswith(problem) for each in find_misconfigurations(context))
        path.chmod(0o600)
        assert not any(each.startswith(problem) for each in find_misconfigurations(context))
