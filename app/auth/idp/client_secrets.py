"""The secret of this service at a provider: a text, or for Apple a token that is signed each time.

https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
"""

import time
from collections.abc import Callable

from ...core.config.settings import reveal
from .provider import APPLE, Provider

# Apple accepts a client secret of up to six months.
VALID_SECONDS = 300


def secret_source(provider: Provider) -> Callable[[], str]:
    """Return what returns a client secret that is valid now; empty for a public client."""
    if provider.kind == APPLE:
        return lambda: _sign(provider)
    secret: str = reveal(provider.secret)
    return lambda: secret


def _sign(provider: Provider) -> str:
    from joserfc import jwt
    from joserfc.jwk import ECKey

    now = int(time.time())
    claims = {
        "iss": provider.team_id,
        "sub": provider.client_id,
        "aud": provider.issuer,
        "iat": now,
        "exp": now + VALID_SECONDS,
    }
    key = ECKey.import_key(reveal(provider.secret))
    return jwt.encode({"alg": "ES256", "kid": provider.key_id}, claims, key)
