"""Verification of logout tokens (OpenID Connect Back-Channel Logout 1.0, section 2.6); the log says
why a token is rejected."""

import logging
import time
from typing import Any

from joserfc import jwt
from joserfc.jws import JWSRegistry

from ...core.types import JsonObject
from ...core.web.fields import is_storable
from ..errors import InvalidLogoutToken
from .id_token import CLOCK_SKEW_SECONDS, fetch_keys, rejects_invalid
from .models import LONGEST_SUBJECT
from .provider import TENANT

log = logging.getLogger(__name__)

# `JWT` is what libraries write that know no other type; an ID token with it has no event.
TYPES = ("logout+jwt", "jwt")
EVENT = "http://schemas.openid.net/event/backchannel-logout"
# The longest time between the issue of a token and its arrival, with the difference of the clocks.
MAX_AGE = 300


def verify_logout(client: Any, text: str) -> JsonObject:
    """Return the claims of a logout token; raise InvalidLogoutToken.

    Raise UnknownSignature if newer keys may verify the token. No keys are fetched for a token with
    an unknown key: anyone can send such tokens.
    """
    with rejects_invalid("A logout token", InvalidLogoutToken):
        keys = fetch_keys(client)
        algorithms = client.server_metadata["id_token_signing_alg_values_supported"]
        registry = JWSRegistry(algorithms=algorithms, strict_check_header=False)
        token = jwt.decode(text, keys, registry=registry)
    rules = _rules(client, token.header, token.claims)
    wrong = next((name for name, is_met in rules.items() if not is_met), None)
    if wrong is not None:
        value = (token.header if wrong == "typ" else token.claims).get(wrong)
        log.warning("A logout token was rejected: %s is %.300r", wrong, value)
        raise InvalidLogoutToken
    return token.claims


def _rules(client: Any, header: JsonObject, claims: JsonObject) -> dict[str, bool]:
    """Return whether the token meets each rule, by the name of the claim."""
    now = time.time()
    issuer = client.server_metadata["issuer"].replace(TENANT, str(claims.get("tid")))
    audience, events = claims.get("aud"), claims.get("events")
    issued_at = claims.get("iat")
    # Drafts of the specification had no `exp`, and servers leave it out.
    expires_at = claims.get("exp", now)
    return {
        "typ": str(header.get("typ", TYPES[0])).lower() in TYPES,
        "iss": claims.get("iss") == issuer,
        "aud": client.client_id in (audience if isinstance(audience, list) else [audience]),
        "iat": isinstance(issued_at, int | float) and abs(now - issued_at) <= MAX_AGE,
        "exp": isinstance(expires_at, int | float) and now < expires_at + CLOCK_SKEW_SECONDS,
        "events": isinstance(events, dict) and isinstance(events.get(EVENT), dict),
        # Such a token is an ID token.
        "nonce": "nonce" not in claims,
        "jti": _is_text(claims.get("jti")),
        "sub": _is_text(claims.get("sub", claims.get("sid"))),
        "sid": "sid" not in claims or _is_text(claims["sid"]),
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_SUBJECT and is_storable(value)
