"""One OpenID Connect provider, spoken to through Authlib's Flask client.

In order of time: its discovery document is fetched and kept for an hour, with its keys, or until an
ID token has an algorithm or key that is not in them; `begin`
says where the browser signs in; `claims` redeems the code that comes back and returns what the
provider vouches for, after the ID token's signature, issuer, audience, nonce and expiry have been
checked. Two words leave this module: `SignInRefused` (what was sent is no good) and
`ProviderUnavailable` (out of reach, slow, or talking nonsense).

Authlib is heavy: this module is imported when somebody first signs in by a provider.
"""

from __future__ import annotations

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

from ...core.types import JsonObject
from ..errors import ProviderUnavailable, SignInRefused
from .client_auth import CODE_ERRORS, ClientRefused, TokenEndpoint
from .discovery import InvalidProviderResponse, ProviderClient, discover
from .id_token import UnknownSignature, verified
from .pending import PendingSignIn

log = logging.getLogger(__name__)
# Authlib writes each PKCE verifier into its debug log.
logging.getLogger("authlib").setLevel(logging.INFO)

# For all the calls together that one step of a sign-in makes.
STEP_SECONDS = 10.0
# A provider that hangs holds so many of our threads and no more; others wait this long for a seat.
SEATS = 4
SEAT_SECONDS = 0.5

# How often ID tokens that cannot be verified have the discovery document fetched again.
REFETCH_SECONDS = 60.0

# Errors that are the visitor's; all others are about us or the provider.
REFUSALS = (*CODE_ERRORS, "invalid_request", "access_denied")

EMAIL_CLAIMS = {"email", "email_verified"}

T = TypeVar("T")


class OpenIdProvider:
    def __init__(
        self, metadata_url: str, client_id: str, client_secret: str, *, pkce: bool
    ) -> None:
        self._metadata_url = metadata_url
        self._client_id = client_id
        self._client_secret = client_secret
        self._pkce = pkce
        self._token_endpoint = TokenEndpoint(client_id, client_secret)
        self._known: ProviderClient | None = None
        self._refetching = Lock()
        self._next_refetch = 0.0
        self._seats = BoundedSemaphore(SEATS)

    def begin(self, redirect_uri: str) -> tuple[str, PendingSignIn]:
        """Where to send the browser, and what to remember until it is back."""
        made = self._ask(lambda: self._discovered().client.create_authorization_url(redirect_uri))
        pending = PendingSignIn(
            state=made["state"],
            redirect_uri=redirect_uri,
            nonce=made["nonce"],
            code_verifier=made.get("code_verifier", ""),
        )
        return made["url"], pending

    def claims(self, code: str, redirect_uri: str, pending: PendingSignIn | None) -> JsonObject:
        """What the provider vouches for about the person who came back with `code`."""
        nonce = pending.nonce if pending else None
        request = {"code": code, "redirect_uri": redirect_uri}
        if pending and pending.code_verifier:
            request["code_verifier"] = pending.code_verifier

        def ask() -> JsonObject:
            known = self._discovered()
            token = self._token_endpoint.redeem(known.client, known.auth_methods, **request)
            try:
                claims = verified(known.client, token, nonce)
            except UnknownSignature as error:
                known = self._discovered_after(known, error)
                claims = verified(known.client, token, nonce)
            if claims.keys() >= EMAIL_CLAIMS:
                return claims
            # An address of one document must not pass for the verified one of the other.
            signed = {name: claims[name] for name in claims.keys() - EMAIL_CLAIMS}
            return _userinfo(known.client, token, claims["sub"]) | signed

        return self._ask(ask)

    def _discovered(self) -> ProviderClient:
        if self._known is None or not self._known.is_fresh:
            self._known = self._discover()
        return self._known

    def _discover(self) -> ProviderClient:
        return discover(self._metadata_url, self._client_id, self._client_secret, pkce=self._pkce)

    def _discovered_after(self, known: ProviderClient, error: UnknownSignature) -> ProviderClient:
        """What the provider says now. A sign-in that waited for another's fetch takes that one."""
        with self._refetching:
            if self._known is known:
                if time.monotonic() < self._next_refetch:
                    raise error
                self._next_refetch = time.monotonic() + REFETCH_SECONDS
                self._known = self._discover()
            return self._discovered()

    def _ask(self, call: Callable[[], T]) -> T:
        """Let `call` speak with the provider, for so long and no longer."""
        if not self._seats.acquire(timeout=SEAT_SECONDS):
            raise ProviderUnavailable
        with _in_our_words():
            return _within(STEP_SECONDS, call, self._seats.release)


def _userinfo(client: Any, token: JsonObject, subject: str) -> JsonObject:
    """Return the user info: many providers send the email address only here."""
    if not client.server_metadata["userinfo_endpoint"]:
        return {}
    found = dict(client.userinfo(token=token))
    if found.get("sub") != subject:
        log.warning(
            "The identity provider's user info was refused: sub is %.300r, expected %r",
            found.get("sub"),
            subject,
        )
        raise SignInRefused
    return found


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except (SignInRefused, ProviderUnavailable):
        raise
    except UnknownSignature as error:
        log.warning("An ID token was refused: %s", error)
        raise SignInRefused from error
    except OAuthError as error:
        if error.error in REFUSALS:
            log.info("The identity provider refused a code: %s", error.error)
            raise SignInRefused from error
        log.error("The identity provider does not serve this client: %.80r", error.error)
        raise ProviderUnavailable from error
    except ClientRefused as error:
        log.error("The identity provider does not serve this client: it refused %s", error)
        raise ProviderUnavailable from error
    except (requests.RequestException, InvalidProviderResponse) as error:
        log.error("The identity provider cannot be used: %s: %.300s", type(error).__name__, error)
        raise ProviderUnavailable from error
    except Exception as error:
        # Whatever else an answer does to its parser. The text may quote it: the log has the kind.
        log.error("The identity provider cannot be used: %s", type(error).__name__)
        raise ProviderUnavailable from error


def _within(seconds: float, call: Callable[[], T], at_last: Callable[[], object]) -> T:
    """Sockets time out by the single read; one byte now and then is cut off only here."""
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)
        finally:
            at_last()

    # In the request's context: the log's lines carry its id.
    Thread(target=copy_context().run, args=(run,), name="identity-provider", daemon=True).start()
    return outcome.result(timeout=seconds)
