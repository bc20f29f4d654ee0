"""A fake OpenID provider with sign-out: an `end_session_endpoint`, sessions with ids, and signed
logout tokens.

It follows the specifications:
  https://openid.net/specs/openid-connect-rpinitiated-1_0.html
  https://openid.net/specs/openid-connect-backchannel-1_0.html
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from joserfc import jws

from .fakes import CLIENT_ID, SECRET, WELL_KNOWN, Claims, Fake, running

EVENT = "http://schemas.openid.net/event/backchannel-logout"
ADA: dict[str, Any] = {"sub": "1", "email": "ada@example.com", "email_verified": True}


class Campus(Fake):
    def document(self, path: str) -> Claims:
        return super().document(path) | {"end_session_endpoint": f"{self.url}/end?lang=en"}

    def logout_token(
        self, header: Mapping[str, Any] | None = None, key: Any = None, **changes: Any
    ) -> str:
        """Return a signed logout token; a change to None removes the claim."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 120,
            "jti": secrets.token_hex(8),
            "events": {EVENT: {}},
            **changes,
        }
        wanted = {"alg": "RS256", "kid": "1", "typ": "logout+jwt", **(header or {})}
        shown = {name: value for name, value in wanted.items() if value is not None}
        sent = {name: value for name, value in claims.items() if value is not None}
        body, algorithms = json.dumps(sent), [wanted["alg"]]
        return jws.serialize_compact(shown, body, key or self._key, algorithms)

    @property
    def settings(self) -> dict[str, object]:
        """The provider in AUTH.PROVIDERS."""
        client = {"client_id": CLIENT_ID, "client_secret": SECRET}
        return {"kind": "oidc", "metadata_url": f"{self.url}{WELL_KNOWN}", **client}


@pytest.fixture
def campus() -> Iterator[Campus]:
    fake = Campus()
    with running(fake):
        fake.issuer = fake.url
        yield fake
