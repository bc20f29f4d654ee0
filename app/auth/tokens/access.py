"""Access tokens: signed by Flask-JWT-Extended, and read more strictly than it reads them.

Its own reading takes a token without `exp`, one of another kind without `type`, and any header.
A token passes here only with what we sign: HS256 by our secret, `sub`, a finite `exp`, and nothing
that asks to be checked in another way.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

import jwt
from flask import Flask, current_app
from flask_jwt_extended import JWTManager, create_access_token

from ...accounts.addresses import fold
from ...core.clock import Clock
from ...core.db.transaction import AnySession, after_commit
from ...core.keystore import Keystore, KeystoreUnavailable
from ...core.types import JsonObject, Values
from ...core.web.fields import is_storable
from ..errors import InvalidCredentials
from ..sign_in.options import tells_of_factor

log = logging.getLogger(__name__)

ALGORITHM = "HS256"
_HERE = str(Path(__file__).parent)

# Claims that the server reads: a claims hook cannot set them.
OURS = frozenset(("sub", "iat", "exp", "nbf", "type"))
# What a token tells of its sign-in, where the settings have us read that: see `told`.
AMR = "amr"

# Among the audiences of a token that names any, unless the settings have another word for us.
AUDIENCE = "frontdesk"

# Clocks of several machines differ by a little.
LEEWAY_SECONDS = 2.0

# A few megabytes at most; a full cache is cleared.
REMEMBERED_TOKENS = 10_000

_KEYS_NAMED_IN_HEADER = frozenset(("kid", "jwk", "jku", "x5u", "x5c", "x5t", "crit"))
_TYPES = (None, "JWT", "at+jwt")
_NOTHING: Values = MappingProxyType({})
_OPTIONS: Any = {
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_jti": False,
    "require": ["sub", "exp"],
}


class TokenClaims(NamedTuple):
    # The folded email address of the account; empty for an impossible address.
    email: str
    expires: float
    # Unset in a token that was signed elsewhere, with `sub` and `exp` alone.
    issued_at: float | None
    not_before: float | None
    # Whether a second factor was shown for it.
    has_factor: bool
    # The server's own record of the sign-in.
    session_id: UUID | None


class Tokens:
    def __init__(
        self,
        signer: Signer,
        secrets: Sequence[str],
        lifetime: timedelta,
        clock: Clock,
        audience: str | None = None,
        issuer: str | None = None,
        told: frozenset[str] = frozenset(),
    ) -> None:
        """With an audience or an issuer, a token must name it. `told` are the claims about the
        sign-in that are ours alone here; all others of them are the host's."""
        self.lifetime = lifetime
        self._told = told
        self._signer = signer
        self.audience = audience
        self.issuer = issuer
        self._secrets = secrets
        self._clock = clock
        self._verified: dict[str, TokenClaims] = {}

    def issue(
        self,
        email: str,
        claims: Values,
        sign_in: Values = _NOTHING,
        latest: datetime | None = None,
    ) -> tuple[str, datetime]:
        """A token and the moment of its expiry, which is not after `latest`. No claim of the host's
        replaces one of ours."""
        now = self._clock.now()
        ends = now + self.lifetime
        expires = (ends if latest is None else min(ends, latest)).replace(microsecond=0)
        ours = {"sub": email, "iat": now.timestamp(), "exp": int(expires.timestamp())}
        told = {name: sign_in[name] for name in self._told & sign_in.keys()}
        token = self._signer.sign(email, {**self._theirs(claims), **told, **ours})
        return token, expires.astimezone(UTC)

    def read(self, token: str) -> TokenClaims:
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

    def _verify(self, token: str) -> TokenClaims:
        decoded = self._decode(token)
        header, payload = decoded["header"], decoded["payload"]
        if not _KEYS_NAMED_IN_HEADER.isdisjoint(header) or header.get("typ") not in _TYPES:
            raise InvalidCredentials
        if payload.get("type", "access") != "access" or not isinstance(payload["sub"], str):
            raise InvalidCredentials
        if not self._is_for_us(payload.get("aud")):
            raise InvalidCredentials
        if self.issuer is not None and payload.get("iss") != self.issuer:
            raise InvalidCredentials
        return TokenClaims(
            fold(payload["sub"]) if is_storable(payload["sub"]) else "",
            _moment(payload["exp"]),
            _moment(payload["iat"]) if "iat" in payload else None,
            _moment(payload["nbf"]) if "nbf" in payload else None,
            AMR in self._told and tells_of_factor(payload.get(AMR)),
            _session_id(payload.get("sid")) if "sid" in self._told else None,
        )

    def _decode(self, token: str) -> JsonObject:
        for secret in self._secrets:
            try:
                return jwt.decode_complete(token, secret, algorithms=[ALGORITHM], options=_OPTIONS)
            except jwt.InvalidSignatureError:
                continue
            except (jwt.PyJWTError, ValueError, RecursionError):
                break
        raise InvalidCredentials

    def _theirs(self, claims: Values) -> JsonObject:
        """The host's claims, with our issuer and with ourselves among its audiences."""
        ours = OURS | self._told if self.issuer is None else OURS | self._told | {"iss"}
        if refused := sorted(ours & claims.keys()):
            log.warning(
                "A claims hook gives %s: left out, these are ours alone.", ", ".join(refused)
            )
        theirs = {name: value for name, value in claims.items() if name not in ours}
        audience = theirs.get("aud", current_app.config.get("JWT_ENCODE_AUDIENCE"))
        others = [audience] if isinstance(audience, str) else audience or ()
        if others:
            theirs["aud"] = [*others, self.audience or AUDIENCE]
        elif self.audience is not None:
            theirs["aud"] = self.audience
        if self.issuer is not None:
            theirs["iss"] = self.issuer
        return theirs

    def _is_for_us(self, audience: object) -> bool:
        """A token without an audience is valid only without a configured audience."""
        if not audience:
            return self.audience is None
        wanted = self.audience or AUDIENCE
        return audience == wanted or (isinstance(audience, list) and wanted in audience)


def _session_id(value: object) -> UUID:
    """With sessions on, a token without a session is invalid."""
    try:
        return UUID(value if isinstance(value, str) else "")
    except ValueError:
        raise InvalidCredentials from None


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


class Signer:
    """Signs with Flask-JWT-Extended on a separate Flask application.

    The library keeps settings, callbacks and sixteen error handlers on an application. The
    application that mounts Frontdesk may use the library too, with other settings.
    """

    def __init__(self, secret: str, host: Flask) -> None:
        """Claims are serialized by the application's JSON provider."""
        self._own = Flask(__name__, static_folder=None, root_path=_HERE, instance_path=_HERE)
        self._own.json_provider_class = host.json_provider_class
        self._own.config.update(
            JWT_SECRET_KEY=secret,
            JWT_ALGORITHM=ALGORITHM,
            # Claims that the server does not read are left out.
            JWT_ENCODE_NBF=False,
            JWT_COOKIE_CSRF_PROTECT=False,
        )
        JWTManager(self._own)

    def sign(self, email: str, claims: Values) -> str:
        with self._own.app_context():
            signed = create_access_token(
                email, expires_delta=False, additional_claims={**claims, "type": "access"}
            )
        return str(signed)


@dataclass(eq=False)
class Revocations:
    """Sign-outs in the shared state store, for other programs.

    The account's row (`logged_out_at`) decides, and nothing here reads the store. The API contract
    promises the email address of a signed-out account there too: it is stored and removed after the
    commit. A store that is out of reach is logged, and the sign-out or sign-in stands.
    """

    keystore: Keystore
    longest_token_seconds: int

    def store(
        self, session: AnySession, email: str, account_id: object, token_seconds: float
    ) -> None:
        """For as long as any token from before may live. The value is the account's id: the email
        address may pass to another account."""
        seconds = max(self.longest_token_seconds, int(token_seconds) + 1)
        key, value = _key(email), str(account_id)
        after_commit(session, lambda: _try(lambda: self.keystore.put(key, value, seconds)))

    def remove(self, session: AnySession, email: str) -> None:
        key = _key(email)
        after_commit(session, lambda: _try(lambda: self.keystore.drop(key)))


def _try(write: Callable[[], object]) -> None:
    try:
        write()
    except KeystoreUnavailable:
        log.warning("The state store is out of reach: it does not show a sign-in or sign-out.")


def _key(email: str) -> str:
    return f"revoked:{email}"
