"""Exchanges codes for tokens, with the method of client authentication that the server accepts.

A discovery document lists all methods of a server, and not the method that is registered for this
client. There are two variants of Basic: some servers decode the percent-encoding of RFC 6749, and
others compare it undecoded. A server that refuses the client has not used the code, so the next
method can send the same code.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote_plus

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client.oauth2_session import OAuth2ClientAuth
from requests.auth import AuthBase, HTTPBasicAuth

from ...core.types import JsonObject

log = logging.getLogger(__name__)

BASIC, POST, NONE = "client_secret_basic", "client_secret_post", "none"
UNENCODED = f"{BASIC} without encoding"

CLIENT_ERRORS = ("invalid_client", "unauthorized_client")
# Glewlwyd returns `invalid_code` for a code that was used before, GitHub `bad_verification_code`.
CODE_ERRORS = ("invalid_grant", "invalid_code", "bad_verification_code")


class AuthMethod(NamedTuple):
    name: str
    credentials: AuthBase


class ClientRefused(Exception):
    """The token endpoint rejects the authentication of the client."""


class TokenEndpoint:
    """Authenticates the client; the method that was accepted is tried first from then on."""

    def __init__(self, client_id: str, client_secret: Callable[[], str]) -> None:
        self._client_id = client_id
        self._client_secret = client_secret
        self._accepted: str | None = None

    def redeem(self, client: object, methods: Sequence[str], **request: object) -> JsonObject:
        """Return the tokens for a code; the discovery document lists the `methods`."""
        refused = []
        secret = self._client_secret()
        candidates = self._methods(secret, methods if secret else [NONE])
        for method in sorted(candidates, key=lambda each: each.name != self._accepted):
            try:
                return self._redeem_with(method, client, request)
            except ClientRefused as error:
                log.warning("The identity provider rejected %s: %s", method.name, error)
                refused.append(f"{method.name} ({error})")
        raise ClientRefused(", ".join(refused))

    def _redeem_with(self, method: AuthMethod, client: Any, request: JsonObject) -> JsonObject:
        try:
            token = client.fetch_access_token(auth=method.credentials, **request)
        except OAuthError as error:
            if method.name == UNENCODED and error.error == "invalid_request":
                # The error of a server that decodes credentials which were not encoded.
                raise ClientRefused(error.error) from error
            # A server that rejects the code has accepted the client.
            if error.error in CODE_ERRORS:
                self._accepted = method.name
            raise
        self._accepted = method.name
        return dict(token)

    def _methods(self, secret: str, names: Sequence[str]) -> Iterator[AuthMethod]:
        for name in names:
            if name != BASIC:
                credentials = OAuth2ClientAuth(self._client_id, secret, name)
                yield AuthMethod(name, credentials)
                continue
            plain = self._client_id, secret
            encoded = quote_plus(self._client_id), quote_plus(secret)
            yield AuthMethod(BASIC, HTTPBasicAuth(*encoded))
            if encoded != plain:
                yield AuthMethod(UNENCODED, _basic(*plain))


def _basic(name: str, secret: str) -> AuthBase:
    # As bytes: requests encodes strings in Latin-1.
    return HTTPBasicAuth(name.encode(), secret.encode())


def detect_refusals(session: Any) -> None:
    """Make Authlib raise ClientRefused: some servers report it by the status alone."""
    session.register_compliance_hook("access_token_response", _check_client)


def _check_client(response: requests.Response) -> requests.Response:
    error = _error_of(response)
    by_status = response.status_code in (401, 403) and error not in CODE_ERRORS
    if error in CLIENT_ERRORS or by_status:
        reason = "without an error" if error is None else repr(error[:80])
        raise ClientRefused(f"{response.status_code} {reason}")
    return response


def _error_of(response: requests.Response) -> str | None:
    try:
        document = response.json()
    except ValueError:
        return None
    error = document.get("error") if isinstance(document, dict) else None
    return error if isinstance(error, str) else None
