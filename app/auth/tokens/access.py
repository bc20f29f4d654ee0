"""Access tokens: signed by Flask-JWT-Extended, and read more strictly than it reads them.

The library accepts a token without `exp`, a token of another kind without `type`, and any header.
This reader accepts only what Frontdesk signs: HS256 with the secret key, or the algorithm of the
signing key that the token names, `sub`, a finite `exp`, and no header that brings a key. Both
libraries are imported at the first token, because PyJWT imports cryptography.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from flask import Flask, current_app

from ...accounts.addresses import fold
from ...core.clock import LEEWAY, Clock
from ...core.db.transaction import AnySession, after_commit
from ...core.errors import EXPIRED, MALFORMED
from ...core.keystore import Keystore, KeystoreUnavailable
from ...core.types import JsonObject, Values
from ...core.web.fields import is_storable
from ..errors import InvalidCredentials
from ..proof_names import amr_has_factor

if TYPE_CHECKING:
    # Loaded only where signing keys are set.
    from .signing_keys import SigningKey, SigningKeys

log = logging.getLogger(__name__)

ALGORITHM = "HS256"
_HERE = str(Path(__file__).parent)

# Claims that the server reads: a claims hook cannot set them.
RESERVED_CLAIMS = frozenset(("sub", "iat", "exp", "nbf", "type"))
# The claim with the methods of the sign-in; read only if it is protected.
AMR = "amr"

# Added to the audiences of a token that names any, unless `AUTH.AUDIENCE` is set.
AUDIENCE = "frontdesk"

LEEWAY_SECONDS = LEEWAY.total_seconds()

# The cache takes a few megabytes at most; a full cache is cleared.
REMEMBERED_TOKENS = 10_000

# Headers that name or bring a key. `kid` is accepted where signing keys are set.
_KEY_HEADERS = frozenset(("jwk", "jku", "x5u", "x5c", "x5t", "crit"))
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
    # Whether the sign-in included a second factor.
    has_factor: bool
    # The stored session; None without sessions.
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
        protected: frozenset[str] = frozenset(),
    ) -> None:
        """With an audience or an issuer, a token must name it. `protected` are the claims about a
        sign-in that a claims hook cannot set. `secrets` verify tokens without a `kid`."""
        self.lifetime = lifetime
        self.protected = protected
        self._signer = signer
        self.audience = audience
        self.issuer = issuer
        self._secrets = secrets
        self._keys = signer.keys
        self._clock = clock
        self._verified: dict[str, TokenClaims] = {}

    def issue(
        self,
        email: str,
        claims: Values,
        issued_at: datetime,
        sign_in: Values = _NOTHING,
        latest: datetime | None = None,
    ) -> tuple[str, datetime]:
        """Return a token and its expiry, which is not after `latest`. Claims of the application
        never replace reserved claims."""
        ends = self._clock.now() + self.lifetime
        expires = (ends if latest is None else min(ends, latest)).replace(microsecond=0)
        reserved = {"sub": email, "iat": issued_at.timestamp(), "exp": int(expires.timestamp())}
        own = {name: sign_in[name] for name in self.protected & sign_in.keys()}
        token = self._signer.sign(email, {**self._application_claims(claims), **own, **reserved})
        return token, expires.astimezone(UTC)

    def read(self, token: str) -> TokenClaims:
        """Return the claims of a valid token; raise InvalidCredentials for any other.

        The signature of a token is verified once and cached; times are checked at each call.
        """
        claims = self._verified.get(token)
        if claims is None:
            claims = self._verify(token)
            if len(self._verified) >= REMEMBERED_TOKENS:
                self._verified.clear()
            self._verified[token] = claims
        now = self._clock.now().timestamp()
        if claims.expires <= now:
            raise InvalidCredentials(reason=EXPIRED)
        if (
            (claims.not_before is not None and claims.not_before > now + LEEWAY_SECONDS)
            # A revocation on a machine with a fast clock dates new tokens two leeways ahead.
            or (claims.issued_at is not None and claims.issued_at > now + 2 * LEEWAY_SECONDS)
        ):
            raise InvalidCredentials
        return claims

    def _verify(self, token: str) -> TokenClaims:
        decoded = self._decode(token)
        header, payload = decoded["header"], decoded["payload"]
        if not _KEY_HEADERS.isdisjoint(header) or header.get("typ") not in _TYPES:
            raise InvalidCredentials
        if self._keys is None and "kid" in header:
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
            AMR in self.protected and amr_has_factor(payload.get(AMR)),
            _session_id(payload.get("sid")) if "sid" in self.protected else None,
        )

    def _decode(self, token: str) -> JsonObject:
        import jwt

        try:
            for key, algorithm in self._candidates(token):
                with suppress(jwt.InvalidSignatureError):
                    return jwt.decode_complete(token, key, algorithms=[algorithm], options=_OPTIONS)
        except jwt.DecodeError:
            raise InvalidCredentials(reason=MALFORMED) from None
        except (jwt.PyJWTError, ValueError, RecursionError):
            pass
        raise InvalidCredentials

    def _candidates(self, token: str) -> Iterable[tuple[Any, str]]:
        """Return the keys that may have signed the token, each with its only algorithm."""
        if self._keys is not None:
            import jwt

            kid = jwt.get_unverified_header(token).get("kid")
            if kid is not None:
                key = self._keys.find(kid)
                return [] if key is None else [(key.public, key.algorithm)]
        return [(secret, ALGORITHM) for secret in self._secrets]

    def _application_claims(self, claims: Values) -> JsonObject:
        """Return the application's claims, with the issuer and the audience of this service."""
        reserved = RESERVED_CLAIMS | self.protected
        if self.issuer is not None:
            reserved |= {"iss"}
        if ignored := sorted(reserved & claims.keys()):
            log.warning(
                "A claims hook returns reserved claims, which are ignored: %s.", ", ".join(ignored)
            )
        accepted = {name: value for name, value in claims.items() if name not in reserved}
        audience = accepted.get("aud", current_app.config.get("JWT_ENCODE_AUDIENCE"))
        others = [audience] if isinstance(audience, str) else audience or ()
        if others:
            accepted["aud"] = [*others, self.audience or AUDIENCE]
        elif self.audience is not None:
            accepted["aud"] = self.audience
        if self.issuer is not None:
            accepted["iss"] = self.issuer
        return accepted

    def _is_for_us(self, audience: object) -> bool:
        """Return whether the audience is valid. A token without an audience is valid only if no
        audience is configured."""
        if not audience:
            return self.audience is None
        wanted = self.audience or AUDIENCE
        return audience == wanted or (isinstance(audience, list) and wanted in audience)


def _session_id(value: object) -> UUID:
    """Return the id; raise InvalidCredentials: with sessions on, a token needs a session."""
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

    def __init__(self, secret: str, host: Flask, keys: SigningKeys | None = None) -> None:
        """Claims are serialized by the application's JSON provider. With keys, the first key signs
        instead of the secret."""
        self._secret = secret
        self._json_provider_class = host.json_provider_class
        self.keys = keys
        # By the name of the key, which can change while threads sign.
        self._applications: dict[str, Flask] = {}

    def sign(self, email: str, claims: Values) -> str:
        from flask_jwt_extended import create_access_token

        key = self.keys.first() if self.keys is not None else None
        own = self._applications.get(key.kid if key is not None else "")
        with (own or self._make_application(key)).app_context():
            signed = create_access_token(
                email,
                expires_delta=False,
                additional_claims={**claims, "type": "access"},
                additional_headers=None if key is None else {"kid": key.kid},
            )
        return str(signed)

    def _make_application(self, key: SigningKey | None) -> Flask:
        from flask_jwt_extended import JWTManager

        own = Flask(__name__, static_folder=None, root_path=_HERE, instance_path=_HERE)
        own.json_provider_class = self._json_provider_class
        own.config.update(
            JWT_SECRET_KEY=self._secret,
            JWT_ALGORITHM=ALGORITHM if key is None else key.algorithm,
            JWT_PRIVATE_KEY=None if key is None else key.private,
            # Claims that the server does not read are left out.
            JWT_ENCODE_NBF=False,
            JWT_COOKIE_CSRF_PROTECT=False,
        )
        JWTManager(own)
        self._applications[key.kid if key is not None else ""] = own
        return own


@dataclass(eq=False)
class Revocations:
    """Sign-outs in the shared state store, for other programs.

    The account's row (`logged_out_at`) decides, and nothing here reads the store. The API contract
    promises the email address of a signed-out account there too: it is stored and removed after the
    commit. If the store is unavailable, a warning is logged, and the sign-out or sign-in succeeds.
    """

    keystore: Keystore
    longest_token_seconds: int

    def store(
        self, session: AnySession, email: str, account_id: object, token_seconds: float
    ) -> None:
        """Store a sign-out for the longest life of an earlier token. The value is the account's id:
        the email address may pass to another account."""
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
        log.warning(
            "The shared state store is unavailable: it misses the latest sign-in or sign-out."
        )


def _key(email: str) -> str:
    return f"revoked:{email}"
