"""A service without Frontdesk that verifies Frontdesk's access tokens, with Flask and PyJWT."""

from __future__ import annotations

# [verify]
import os
from typing import Any

import jwt

JWKS_URL = os.environ.get("JWKS_URL", "https://api.example.com/.well-known/jwks.json")
ISSUER = os.environ.get("ISSUER", "https://api.example.com")
AUDIENCE = os.environ.get("AUDIENCE", "api.example.com")

# Fetches the keys with the first token, and keeps them for five minutes.
keys = jwt.PyJWKClient(JWKS_URL, lifespan=300)


def verify(token: str) -> dict[str, Any]:
    """Return the claims of an access token; raise jwt.PyJWTError if it is not valid."""
    key = keys.get_signing_key_from_jwt(token)
    claims: dict[str, Any] = jwt.decode(
        token,
        key,
        algorithms=["ES256", "EdDSA"],
        audience=AUDIENCE,
        issuer=ISSUER,
        options={"require": ["aud", "exp", "iss", "sub"]},
    )
    if claims.get("type") != "access":
        raise jwt.InvalidTokenError("This is not an access token.")
    return claims


# [end]

# [view]
from flask import Flask, Response, request  # noqa: E402

app = Flask(__name__)


@app.get("/orders")
def orders() -> Response | dict[str, str]:
    _, _, token = request.headers.get("Authorization", "").partition(" ")
    try:
        claims = verify(token)
    except jwt.PyJWKClientConnectionError:
        # The keys cannot be fetched, so the service cannot know whether the token is valid.
        return Response(status=503)
    except jwt.PyJWTError:
        return Response(status=401, headers={"WWW-Authenticate": "Bearer"})
    return {"orders_of": claims["sub"]}


# [end]
