"""Verification of ID tokens; the log says why a token is rejected."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from authlib.oidc.core import CodeIDToken
from joserfc.errors import (
    BadSignatureError,
    ClaimError,
    InvalidClaimError,
    InvalidKeyIdError,
    InvalidKeyTypeError,
    JoseError,
    MissingKeyError,
    UnsupportedAlgorithmError,
)
from joserfc.jwk import KeySet

from ...core.errors import Problem
from ...core.types import JsonObject
from ...core.web.fields import is_storable
from ..errors import SignInRefused
from .discovery import InvalidProviderResponse
from .models import LONGEST_SUBJECT
from .provider import TENANT, Provider

log = logging.getLogger(__name__)

CLOCK_SKEW_SECONDS = 30
TIMES = ("exp", "iat", "nbf")


_UNKNOWN = (
    BadSignatureError,
    InvalidKeyIdError,
    InvalidKeyTypeError,
    MissingKeyError,
    UnsupportedAlgorithmError,
)


class UnknownSignature(Exception):
    """A token has an algorithm or key that the cached metadata of the provider lacks."""

    def __init__(self, token: str, error: JoseError) -> None:
        reason = f"{type(error).__name__} {error.description!r:.200}"
        super().__init__(f"{token} was rejected: {reason}")


class _IdToken(CodeIDToken):  # type: ignore[misc]
    def validate(self, now: int | None = None, leeway: int = 0) -> None:
        issuer = self.options["iss"]
        if issuer["alias"] and self.get("iss") == issuer["alias"]:
            self["iss"] = issuer["value"]
        issuer["value"] = issuer["value"].replace(TENANT, str(self.get("tid")))
        try:
            super().validate(now, leeway)
            subject = self["sub"]
            if not subject or len(subject) > LONGEST_SUBJECT or not is_storable(subject):
                raise InvalidClaimError("sub")
        except ClaimError as error:
            _log(error, self)
            raise


def verify(client: object, provider: Provider, token: JsonObject, nonce: str | None) -> JsonObject:
    """Return the claims of the ID token in the response of the token endpoint.

    Raises `UnknownSignature` if newer metadata of the provider may verify the token.
    """
    if not isinstance(token.get("id_token"), str):
        raise InvalidProviderResponse("the token endpoint returned no ID token")
    # Checked first, so that errors below are errors of the token.
    fetch_keys(client)
    with rejects_invalid("An ID token", SignInRefused):
        try:
            return _parse(client, provider, token, nonce)
        except BadSignatureError:
            # Authlib fetches new keys if a key's id is unknown; some providers reuse the id.
            fetch_keys(client, again=True)
            return _parse(client, provider, token, nonce)


@contextmanager
def rejects_invalid(token: str, refusal: type[Problem]) -> Iterator[None]:
    """Raise a problem for an invalid token, or `UnknownSignature`; log why."""
    try:
        yield
    except (requests.RequestException, InvalidProviderResponse, Problem):
        raise
    except ClaimError as error:
        raise refusal from error
    except _UNKNOWN as error:
        raise UnknownSignature(token, error) from error
    except Exception as error:
        # A forged token can cause any error of the parser.
        reason = error.description if isinstance(error, JoseError) else ""
        log.warning("%s was rejected: %s %.200r", token, type(error).__name__, reason)
        raise refusal from error


def _parse(client: Any, provider: Provider, token: JsonObject, nonce: str | None) -> JsonObject:
    issuer = {"value": client.server_metadata["issuer"], "alias": provider.alias}
    expected = {
        "iss": {"essential": True, **issuer},
        "aud": {"essential": True, "value": client.client_id},
        "sub": {"essential": True},
    }
    claims = dict(
        client.parse_id_token(
            token, nonce, claims_options=expected, claims_cls=_IdToken, leeway=CLOCK_SKEW_SECONDS
        )
    )
    if provider.tenants and not provider.is_issuer(claims["iss"]):
        log.warning("An ID token was rejected: tid is %.300r, not a listed tenant", claims["tid"])
        raise SignInRefused
    return claims


def _log(error: ClaimError, claims: _IdToken) -> None:
    """Log a wrong claim. The values of nonce and hashes are secrets of the sign-in."""
    name, client_id = error.claim, repr(claims.options["aud"]["value"])
    expected = {
        "iss": repr(claims.options["iss"]["value"]),
        "aud": client_id,
        "azp": client_id,
        "sub": f"a string of at most {LONGEST_SUBJECT} characters",
        **dict.fromkeys(TIMES, f"a time that fits {int(time.time())}"),
    }
    if name in expected:
        log.warning(
            "An ID token was rejected: %s is %.300r, expected %s",
            name,
            claims.get(name),
            expected[name],
        )
    else:
        log.warning("An ID token was rejected: %s is missing or not the expected one", name)


def fetch_keys(client: Any, *, again: bool = False) -> KeySet:
    """Return the provider's keys, and remove an invalid key set, which Authlib would keep."""
    try:
        return KeySet.import_key_set(client.fetch_jwk_set(force=again))
    except requests.RequestException:
        raise
    except Exception as error:
        client.server_metadata.pop("jwks", None)
        raise InvalidProviderResponse("the provider's key set cannot be read") from error
