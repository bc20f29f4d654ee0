"""An OpenID Connect provider, through Authlib's Flask client.

The discovery document and the provider's keys are cached for an hour, or until an ID token has an
unknown algorithm or key. `begin` returns where the browser signs in. `claims` exchanges the code
for tokens, verifies the ID token's signature, issuer, audience, nonce and expiry, and returns the
claims.

Authlib is a large library: this module is imported at the first sign-in through a provider.
"""

import logging
import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from authlib.common.urls import add_params_to_uri

from ...core.config.settings import reveal
from ...core.request import note_effect
from ...core.types import JsonObject
from ..errors import InvalidLogoutToken, SignInRefused
from .calls import ProviderCalls
from .client_auth import TokenEndpoint
from .discovery import ProviderClient, discover
from .id_token import UnknownSignature, verify
from .logout_token import verify_logout
from .pending import PendingSignIn
from .provider import APPLE, MICROSOFT, Provider

log = logging.getLogger(__name__)

# The shortest time between two fetches of the discovery document after unverifiable ID tokens.
REFETCH_SECONDS = 60.0

EMAIL_CLAIMS = {"email", "email_verified"}


class OpenIdProvider:
    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._secret = secret_source(provider)
        self._token_endpoint = TokenEndpoint(provider.client_id, self._secret)
        self._calls = ProviderCalls(provider.name, provider.metadata_url)
        self._known: ProviderClient | None = None
        self._refetching = Lock()
        self._next_refetch = 0.0

    def begin(self, redirect_uri: str) -> tuple[str, PendingSignIn]:
        """Return the URL for the browser, and what to remember until the callback."""
        # Apple requires a form if the email address is requested.
        params = {"response_mode": "form_post"} if self._provider.posts_form else {}
        authorization = self._calls.run(
            lambda: self._discovered().client.create_authorization_url(redirect_uri, **params)
        )
        pending = PendingSignIn(
            state=authorization["state"],
            redirect_uri=redirect_uri,
            nonce=authorization["nonce"],
            code_verifier=authorization.get("code_verifier", ""),
        )
        return authorization["url"], pending

    def claims(
        self, code: str, redirect_uri: str, pending: PendingSignIn | None
    ) -> tuple[JsonObject, str]:
        """Return the verified claims of the user for whom the provider issued `code`, and the ID
        token."""
        nonce = pending.nonce if pending else None
        request = {"code": code, "redirect_uri": redirect_uri}
        if pending and pending.code_verifier:
            request["code_verifier"] = pending.code_verifier

        def fetch() -> tuple[JsonObject, str]:
            known = self._discovered()
            token = self._token_endpoint.redeem(known.client, known.auth_methods, **request)
            try:
                claims = verify(known.client, self._provider, token, nonce)
            except UnknownSignature as error:
                known = self._discovered_after(known, error)
                claims = verify(known.client, self._provider, token, nonce)
            has_email = claims.keys() >= EMAIL_CLAIMS
            is_complete = has_email and self._provider.groups_claim in ("", *claims)
            # Microsoft's `xms_edov` is about the address in the same token.
            if is_complete or self._provider.kind == MICROSOFT:
                return claims, token["id_token"]
            # `email` and `email_verified` must come from the same document.
            left_out = set() if has_email else EMAIL_CLAIMS
            signed = {name: claims[name] for name in claims.keys() - left_out}
            return _userinfo(known.client, token, claims["sub"]) | signed, token["id_token"]

        # The provider accepts the code only once.
        note_effect()
        return self._calls.run(fetch)

    def logout_claims(self, token: str) -> JsonObject:
        """Return the claims of a logout token; raise InvalidLogoutToken."""

        def verify_token() -> JsonObject:
            known = self._discovered()
            try:
                return verify_logout(known.client, token)
            except UnknownSignature as error:
                return verify_logout(self._discovered_after(known, error).client, token)

        try:
            return self._calls.run(verify_token)
        except SignInRefused as error:
            raise InvalidLogoutToken from error

    def logout_url(self, id_token: str | None, return_url: str | None) -> str | None:
        """Return the provider's page for sign-out (OpenID Connect RP-Initiated Logout); None if the
        provider has no such page."""
        client = self._calls.run(self._discovered).client
        params = {
            "id_token_hint": id_token,
            "client_id": client.client_id,
            "post_logout_redirect_uri": return_url,
        }
        given = [(name, value) for name, value in params.items() if value]
        page = client.server_metadata["end_session_endpoint"]
        return str(add_params_to_uri(page, given)) if page else None

    def _discovered(self) -> ProviderClient:
        if self._known is None or not self._known.is_fresh:
            self._known = self._discover()
        return self._known

    def _discover(self) -> ProviderClient:
        return discover(self._provider, self._secret())

    def _discovered_after(self, known: ProviderClient, error: UnknownSignature) -> ProviderClient:
        """Return new metadata. Concurrent sign-ins share one fetch."""
        with self._refetching:
            if self._known is known:
                if time.monotonic() < self._next_refetch:
                    raise error
                self._next_refetch = time.monotonic() + REFETCH_SECONDS
                self._known = self._discover()
            return self._discovered()


def _userinfo(client: Any, token: JsonObject, subject: str) -> JsonObject:
    """Return the user info: many providers send the email address only here."""
    if not client.server_metadata["userinfo_endpoint"]:
        return {}
    found = dict(client.userinfo(token=token))
    if found.get("sub") != subject:
        log.warning(
            "The identity provider's user info was rejected: sub is %.300r, expected %r",
            found.get("sub"),
            subject,
        )
        raise SignInRefused
    return found


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
