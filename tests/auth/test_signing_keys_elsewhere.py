"""Other libraries verify access tokens with the published keys."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import jwt
import pytest
from flask import Flask
from joserfc import jwt as joserfc
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from werkzeug.serving import make_server

from ..conftest import MakeApp, Person, only_on
from ..rigs.npm import install, tool
from ..rigs.servers import ROOT
from ..rigs.signing_keys import EDDSA, ES256, STRANGE, key_set, public, signed
from .test_signing_keys import JWKS

pytestmark = only_on("sqlite")

JOSE = ROOT / "tests" / "rigs" / "jose"
# STRANGE is not published, but names a published key.
FORGED = signed(STRANGE, kid=ES256["kid"])
ALGORITHMS = ["ES256", "EdDSA"]


@pytest.fixture(params=["ES256", "EdDSA"])
def app(request: pytest.FixtureRequest, make_app: MakeApp) -> Flask:
    keys = (ES256, public(EDDSA)) if request.param == "ES256" else (EDDSA, public(ES256))
    return make_app(
        AUTH__SIGNING_KEYS=key_set(*keys),
        AUTH__AUDIENCE="api.example.com",
        AUTH__ISSUER="https://api.example.com",
    )


@pytest.fixture
def url(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.port}{JWKS}"
    server.shutdown()


def test_pyjwt_verifies_tokens(url: str, ada: Person) -> None:
    client = jwt.PyJWKClient(url)

    def verify(token: str) -> Any:
        key = client.get_signing_key_from_jwt(token)
        return jwt.decode(
            token,
            key,
            algorithms=ALGORITHMS,
            audience="api.example.com",
            issuer="https://api.example.com",
        )

    assert verify(ada.token())["sub"] == ada.email
    with pytest.raises(jwt.InvalidSignatureError):
        verify(FORGED)


# RFC 9864 has a new name for the algorithm, which other libraries do not know yet.
@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
def test_joserfc_verifies_tokens(app: Flask, ada: Person) -> None:
    keys = KeySet.import_key_set(app.test_client().get(JWKS).get_json())
    claims = joserfc.JWTClaimsRegistry(
        # Frontdesk's times have fractions of a second, and the library's have none.
        leeway=5,
        iss={"essential": True, "value": "https://api.example.com"},
        aud={"essential": True, "value": "api.example.com"},
        exp={"essential": True},
    )
    token = joserfc.decode(ada.token(), keys, algorithms=ALGORITHMS)
    claims.validate(token.claims)
    assert token.claims["sub"] == ada.email
    with pytest.raises(JoseError):
        joserfc.decode(FORGED, keys, algorithms=ALGORITHMS)


def test_jose_verifies_tokens(url: str, ada: Person, tmp_path: Path) -> None:
    install(JOSE)

    def verify(token: str) -> subprocess.CompletedProcess[str]:
        command = [tool("node"), "verify.mjs", url, token]
        return subprocess.run(command, cwd=JOSE, capture_output=True, text=True, check=False)

    done = verify(ada.token())
    assert json.loads(done.stdout)["sub"] == ada.email, done.stderr
    assert "signature verification failed" in verify(FORGED).stderr
