"""One OpenID Connect provider, spoken to through Authlib's Flask client.

In order of time: its discovery document is fetched and kept for an hour, with its keys; `begin`
says where the browser signs in; `claims` redeems the code that comes back and returns what the
provider vouches for, after the ID token's signature, issuer, audience, nonce and expiry have been
checked. Two words leave this module: `SignInRefused` (what was sent is no good) and
`ProviderUnavailable` (out of reach, slow, or talking nonsense).

Authlib is heavy: this module is imported when somebody first signs in by a provider.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import BoundedSemaphore, Thread
from typing import Any, TypeVar
from urllib.parse import quote_plus

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client.oauth2_session import OAuth2ClientAuth
from authlib.oidc.core import CodeIDToken
from joserfc.errors import BadSignatureError
from joserfc.jwk import KeySet
from requests.auth import AuthBase, HTTPBasicAuth

from .discovery import Discovered, Nonsense, discover
from .errors import ProviderUnavailable, SignInRefused
from .pending import PendingSignIn

log = logging.getLogger(__name__)
# Authlib writes each PKCE verifier into its debug log.
logging.getLogger("authlib").setLevel(logging.INFO)

# For all the calls together that one step of a sign-in makes.
STEP_SECONDS = 10.0
# A provider that hangs holds so many of our threads and no more; others wait this long for a seat.
SEATS = 4
SEAT_SECONDS = 0.5

CLOCK_SKEW_SECONDS = 30
# Errors of the token endpoint that speak of the code; all others are about us or the provider.
REFUSALS = ["invalid_grant", "invalid_request", "access_denied"]

EMAIL_CLAIMS = {"email", "email_verified"}

T = TypeVar("T")
Claims = dict[str, Any]


class OpenIdProvider:
    def __init__(
        self, metadata_url: str, client_id: str, client_secret: str, *, pkce: bool
    ) -> None:
        self._metadata_url = metadata_url
        self._client_id = client_id
        self._client_secret = client_secret
        self._pkce = pkce
        self._known: Discovered | None = None
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

    def claims(self, code: str, redirect_uri: str, pending: PendingSignIn | None) -> Claims:
        """What the provider vouches for about the person who came back with `code`."""

        def ask() -> Claims:
            known = self._discovered()
            token = self._redeem(
                known, code, redirect_uri, pending.code_verifier if pending else ""
            )
            claims = _verified(known.client, token, pending.nonce if pending else None)
            if claims.keys() >= EMAIL_CLAIMS:
                return claims
            # An address of one document must not pass for the verified one of the other.
            others = {name: claims[name] for name in claims.keys() - EMAIL_CLAIMS}
            return others | _userinfo(known.client, token, claims["sub"])

        return self._ask(ask)

    def _discovered(self) -> Discovered:
        if self._known is None or not self._known.is_fresh:
            self._known = discover(
                self._metadata_url, self._client_id, self._client_secret, pkce=self._pkce
            )
        return self._known

    def _redeem(self, known: Discovered, code: str, redirect_uri: str, verifier: str) -> Claims:
        """A provider lists every method it knows, and takes from a client the one agreed upon."""
        pkce = {"code_verifier": verifier} if verifier else {}
        for method in known.auth_methods:
            try:
                token = known.client.fetch_access_token(
                    redirect_uri, code=code, auth=self._credentials(method), **pkce
                )
            except OAuthError as error:
                if error.error != "invalid_client" or method == known.auth_methods[-1]:
                    raise
            else:
                known.auth_methods = [method]
                return dict(token)
        raise AssertionError("there is always a method")

    def _credentials(self, method: str) -> AuthBase:
        auth: AuthBase = OAuth2ClientAuth(self._client_id, self._client_secret, method)
        if method == "client_secret_basic":
            # RFC 6749 2.3.1 wants both escaped first, which Authlib leaves out.
            auth = HTTPBasicAuth(quote_plus(self._client_id), quote_plus(self._client_secret))
        return auth

    def _ask(self, call: Callable[[], T]) -> T:
        """Let `call` speak with the provider, for so long and no longer."""
        if not self._seats.acquire(timeout=SEAT_SECONDS):
            raise ProviderUnavailable
        with _in_our_words():
            return _within(STEP_SECONDS, call, self._seats.release)


def _verified(client: Any, token: Claims, nonce: str | None) -> Claims:
    if not isinstance(token.get("id_token"), str):
        raise Nonsense("the token endpoint gave no ID token")
    # Looked at beforehand, so that what goes wrong below is the token's fault and not the keys'.
    _fetch_keys(client)
    expected = {
        "iss": {"essential": True, "value": client.server_metadata["issuer"]},
        "aud": {"essential": True, "value": client.client_id},
        "sub": {"essential": True},
    }

    def parse() -> Claims:
        options = {
            "claims_options": expected,
            "claims_cls": CodeIDToken,
            "leeway": CLOCK_SKEW_SECONDS,
        }
        return dict(client.parse_id_token(token, nonce, **options))

    try:
        try:
            return parse()
        except BadSignatureError:
            # Authlib asks for new keys when a key's id is unknown; some providers keep the id.
            _fetch_keys(client, again=True)
            return parse()
    except (requests.RequestException, Nonsense):
        raise
    except Exception as error:
        # A forger chooses what the parser stumbles over, so every stumble means the same.
        log.warning("An ID token was refused: %s", type(error).__name__)
        raise SignInRefused from error


def _fetch_keys(client: Any, *, again: bool = False) -> None:
    """Authlib keeps whatever it got; what is no key set must not stay there."""
    try:
        KeySet.import_key_set(client.fetch_jwk_set(force=again))
    except requests.RequestException:
        raise
    except Exception as error:
        client.server_metadata.pop("jwks", None)
        raise Nonsense("the provider's key set cannot be read") from error


def _userinfo(client: Any, token: Claims, subject: str) -> Claims:
    """Many providers tell the e-mail here only, and not in the ID token."""
    if not client.server_metadata["userinfo_endpoint"]:
        return {}
    found = dict(client.userinfo(token=token))
    if found.get("sub") != subject:
        log.warning("The identity provider's user info is about somebody else")
        raise SignInRefused
    return found


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except (SignInRefused, ProviderUnavailable):
        raise
    except OAuthError as error:
        if error.error in REFUSALS:
            log.info("The identity provider refused a code: %s", error.error)
            raise SignInRefused from error
        log.error("The identity provider does not serve this client: %.80r", error.error)
        raise ProviderUnavailable from error
    except (requests.RequestException, Nonsense) as error:
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

    Thread(target=run, name="identity-provider", daemon=True).start()
    return outcome.result(timeout=seconds)
