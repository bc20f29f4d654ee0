"""An OpenID Connect provider, through Authlib's Flask client.

The discovery document and the provider's keys are cached for an hour, or until an ID token has an
unknown algorithm or key. `begin` returns where the browser signs in. `claims` exchanges the code
for tokens, verifies the ID token's signature, issuer, audience, nonce and expiry, and returns the
claims. Errors are `SignInRefused` (invalid input) and `ProviderUnavailable` (unreachable, slow, or
an invalid response).

Authlib is a large library: this module is imported at the first sign-in through a provider.
"""

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, TypeVar

import requests
from authlib.integrations.base_client import OAuthError

from ...core.request import note_effect
from ...core.types import JsonObject
from ..errors import ProviderUnavailable, SignInRefused
from .client_auth import CODE_ERRORS, ClientRefused, TokenEndpoint
from .discovery import InvalidProviderResponse, ProviderAddress, ProviderClient, discover
from .id_token import UnknownSignature, verify
from .pending import PendingSignIn

log = logging.getLogger(__name__)
# Authlib writes each PKCE verifier into its debug log.
logging.getLogger("authlib").setLevel(logging.INFO)

# The time limit of all calls in one step of a sign-in.
STEP_SECONDS = 10.0
# A provider that hangs blocks at most this number of threads. Other requests wait for a short time.
MAX_CALLS = 4
WAIT_SECONDS = 0.5

# The shortest time between two fetches of the discovery document after unverifiable ID tokens.
REFETCH_SECONDS = 60.0

# Errors of the user; all other errors are about this client or the provider.
REFUSALS = (*CODE_ERRORS, "invalid_request", "access_denied")

EMAIL_CLAIMS = {"email", "email_verified"}

T = TypeVar("T")


class OpenIdProvider:
    def __init__(
        self, address: ProviderAddress, client_id: str, client_secret: str, *, pkce: bool
    ) -> None:
        self._address = address
        self._client_id = client_id
        self._client_secret = client_secret
        self._pkce = pkce
        self._token_endpoint = TokenEndpoint(client_id, client_secret)
        self._known: ProviderClient | None = None
        self._refetching = Lock()
        self._next_refetch = 0.0
        self._slots = BoundedSemaphore(MAX_CALLS)

    def begin(self, redirect_uri: str) -> tuple[str, PendingSignIn]:
        """Return the URL for the browser, and what to remember until the callback."""
        authorization = self._call(
            lambda: self._discovered().client.create_authorization_url(redirect_uri)
        )
        pending = PendingSignIn(
            state=authorization["state"],
            redirect_uri=redirect_uri,
            nonce=authorization["nonce"],
            code_verifier=authorization.get("code_verifier", ""),
        )
        return authorization["url"], pending

    def claims(self, code: str, redirect_uri: str, pending: PendingSignIn | None) -> JsonObject:
        """Return the verified claims of the user for whom the provider issued `code`."""
        nonce = pending.nonce if pending else None
        request = {"code": code, "redirect_uri": redirect_uri}
        if pending and pending.code_verifier:
            request["code_verifier"] = pending.code_verifier

        def fetch() -> JsonObject:
            known = self._discovered()
            token = self._token_endpoint.redeem(known.client, known.auth_methods, **request)
            try:
                claims = verify(known.client, token, nonce)
            except UnknownSignature as error:
                known = self._discovered_after(known, error)
                claims = verify(known.client, token, nonce)
            if claims.keys() >= EMAIL_CLAIMS:
                return claims
            # `email` and `email_verified` must come from the same document.
            signed = {name: claims[name] for name in claims.keys() - EMAIL_CLAIMS}
            return _userinfo(known.client, token, claims["sub"]) | signed

        # The provider accepts the code only once.
        note_effect()
        return self._call(fetch)

    def _discovered(self) -> ProviderClient:
        if self._known is None or not self._known.is_fresh:
            self._known = self._discover()
        return self._known

    def _discover(self) -> ProviderClient:
        return discover(self._address, self._client_id, self._client_secret, pkce=self._pkce)

    def _discovered_after(self, known: ProviderClient, error: UnknownSignature) -> ProviderClient:
        """Return new metadata. Concurrent sign-ins share one fetch."""
        with self._refetching:
            if self._known is known:
                if time.monotonic() < self._next_refetch:
                    raise error
                self._next_refetch = time.monotonic() + REFETCH_SECONDS
                self._known = self._discover()
            return self._discovered()

    def _call(self, call: Callable[[], T]) -> T:
        """Call the provider, within the limits of time and concurrency."""
        if not self._slots.acquire(timeout=WAIT_SECONDS):
            raise ProviderUnavailable
        with _translated_errors():
            return _call_within(STEP_SECONDS, call, self._slots.release)


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


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except (SignInRefused, ProviderUnavailable):
        raise
    except UnknownSignature as error:
        log.warning("An ID token was rejected: %s", error)
        raise SignInRefused from error
    except OAuthError as error:
        if error.error in REFUSALS:
            log.info("The identity provider rejected a code: %s", error.error)
            raise SignInRefused from error
        log.error("The identity provider does not serve this client: %.80r", error.error)
        raise ProviderUnavailable from error
    except ClientRefused as error:
        log.error("The identity provider does not serve this client: it rejected %s", error)
        raise ProviderUnavailable from error
    except (requests.RequestException, InvalidProviderResponse) as error:
        log.error("The identity provider cannot be used: %s: %.800s", type(error).__name__, error)
        raise ProviderUnavailable from error
    except Exception as error:
        # Any error of a parser. The text may quote the response: log the type only.
        log.error("The identity provider cannot be used: %s", type(error).__name__)
        raise ProviderUnavailable from error


def _call_within(seconds: float, call: Callable[[], T], release: Callable[[], object]) -> T:
    """Limit the whole time of a call: a socket's timeout is for each read."""
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)
        finally:
            release()

    # In the request's context: log entries have its id.
    Thread(target=copy_context().run, args=(run,), name="identity-provider", daemon=True).start()
    return outcome.result(timeout=seconds)
