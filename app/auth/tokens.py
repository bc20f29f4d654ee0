"""Access tokens: signed by Flask-JWT-Extended, and read more strictly than it reads them.

Its own reading takes a token without `exp`, one of another kind without `type`, and any header.
A token passes here only with what we sign: HS256 by our secret, `sub`, a finite `exp`, and nothing
that asks to be checked in another way.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import jwt
from flask import Flask, current_app
from flask_jwt_extended import JWTManager, create_access_token

from ..core.clock import Clock
from ..core.errors import SetupError
from .errors import InvalidCredentials

log = logging.getLogger(__name__)

ALGORITHM = "HS256"

# What a token is read by: of a host's making, it could be one that nobody enters with.
OURS = frozenset(("sub", "iat", "exp", "nbf", "type"))
# Among the audiences of a token that names any; one for others alone is not for us.
AUDIENCE = "frontdesk"

# Clocks of several machines differ by a little.
LEEWAY_SECONDS = 2.0

# Some megabytes at the most; when they are full, remembering starts anew.
REMEMBERED_TOKENS = 10_000

_KEYS_NAMED_IN_HEADER = frozenset(("kid", "jwk", "jku", "x5u", "x5c", "x5t", "crit"))
_TYPES = (None, "JWT", "at+jwt")
_OPTIONS: Any = {
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_jti": False,
    "require": ["sub", "exp"],
}


class Claims(NamedTuple):
    email: str
    expires: float
    # Unset in a token that was signed elsewhere, with `sub` and `exp` alone.
    issued_at: float | None
    not_before: float | None


class Tokens:
    def __init__(
        self, secret: str, fallbacks: Sequence[str], lifetime: timedelta, clock: Clock
    ) -> None:
        self.lifetime = lifetime
        self._secrets = (secret, *fallbacks)
        self._clock = clock
        self._verified: dict[str, Claims] = {}

    def issue(self, email: str, claims: Mapping[str, Any]) -> tuple[str, datetime]:
        """A token and the moment of its expiry. No claim of the host's replaces one of ours."""
        now = self._clock.now()
        expires = (now + self.lifetime).replace(microsecond=0)
        ours = {"sub": email, "iat": now.timestamp(), "exp": int(expires.timestamp())}
        token = create_access_token(
            email,
            expires_delta=False,
            additional_claims={**_theirs(claims), **ours, "type": "access"},
        )
        return token, expires.astimezone(UTC)

    def read(self, token: str) -> Claims:
        """The claims of a token that counts now; otherwise InvalidCredentials.

        A token that comes again and again is verified once, for its signature cannot change; what
        changes with time is checked every time.
        """
        claims = self._verified.get(token)
        if claims is None:
            claims = self._verify(token)
            if len(self._verified) >= REMEMBERED_TOKENS:
                self._verified.clear()
            self._verified[token] = claims
        now = self._clock.now().timestamp()
        latest = now + LEEWAY_SECONDS
        if (
            claims.expires <= now
            or (claims.not_before is not None and claims.not_before > latest)
            or (claims.issued_at is not None and claims.issued_at > latest)
        ):
            raise InvalidCredentials
        return claims

    def _verify(self, token: str) -> Claims:
        decoded = self._decode(token)
        header, payload = decoded["header"], decoded["payload"]
        if not _KEYS_NAMED_IN_HEADER.isdisjoint(header) or header.get("typ") not in _TYPES:
            raise InvalidCredentials
        if payload.get("type", "access") != "access" or not isinstance(payload["sub"], str):
            raise InvalidCredentials
        if not _is_for_us(payload.get("aud")):
            raise InvalidCredentials
        return Claims(
            payload["sub"],
            _moment(payload["exp"]),
            _moment(payload["iat"]) if "iat" in payload else None,
            _moment(payload["nbf"]) if "nbf" in payload else None,
        )

    def _decode(self, token: str) -> dict[str, Any]:
        for secret in self._secrets:
            try:
                return jwt.decode_complete(token, secret, algorithms=[ALGORITHM], options=_OPTIONS)
            except jwt.InvalidSignatureError:
                continue
            except (jwt.PyJWTError, ValueError, RecursionError):
                break
        raise InvalidCredentials


def _theirs(claims: Mapping[str, Any]) -> dict[str, Any]:
    """The host's claims, and its audience with ourselves in it."""
    if refused := sorted(OURS & claims.keys()):
        log.warning("A claims hook gives %s: left out, these are ours alone.", ", ".join(refused))
    theirs = {name: value for name, value in claims.items() if name not in OURS}
    audience = theirs.get("aud", current_app.config.get("JWT_ENCODE_AUDIENCE"))
    if audience:
        theirs["aud"] = [*([audience] if isinstance(audience, str) else audience), AUDIENCE]
    return theirs


def _is_for_us(audience: object) -> bool:
    among = isinstance(audience, list) and AUDIENCE in audience
    return not audience or audience == AUDIENCE or among


def _moment(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidCredentials
    try:
        moment = float(value)
    except OverflowError:
        raise InvalidCredentials from None
    if not math.isfinite(moment):
        raise InvalidCredentials
    return moment


def prepare_signing(app: Flask, secret: str) -> None:
    """Flask-JWT-Extended keeps its settings on the application, where a host may have its own."""
    # Claims that nobody reads here are left out.
    app.config.setdefault("JWT_ENCODE_NBF", False)
    app.config.setdefault("JWT_COOKIE_CSRF_PROTECT", False)
    for name, value in {"JWT_SECRET_KEY": secret, "JWT_ALGORITHM": ALGORITHM}.items():
        if app.config.get(name) is None:
            app.config[name] = value
        elif app.config[name] != value:
            raise SetupError(
                f"{name} differs from what Frontdesk signs with: remove it from the application's"
                " configuration, or give Frontdesk the same SECRET_KEY."
            )
    if "flask-jwt-extended" not in app.extensions:
        JWTManager(app)
