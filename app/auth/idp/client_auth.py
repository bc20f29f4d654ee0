"""Redeeming a code, by whichever way of saying who we are the token endpoint takes.

A discovery document lists every way that a server knows, and not the one agreed upon for this
client; and of Basic there are two, as some servers decode the percent-encoding that RFC 6749 asks
for and others compare what they were sent. A server that refuses a client has not looked at the
code yet, so the next way may carry the same one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
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
# `invalid_code` is Glewlwyd's word for a code that was used before.
CODE_ERRORS = ("invalid_grant", "invalid_code")


class AuthMethod(NamedTuple):
    name: str
    credentials: AuthBase


class ClientRefused(Exception):
    """The token endpoint does not take us for the client we say we are."""


class TokenEndpoint:
    """How one client shows who it is; the way that was taken is tried first from then on."""

    def __init__(self, client_id: str, client_secret: str) -> None:
        self._client_id = client_id
        self._client_secret = client_secret
        self._taken: str | None = None

    def redeem(self, client: object, methods: Sequence[str], **request: object) -> JsonObject:
        """Return the tokens for a code; the discovery document lists the `methods`."""
        refused = []
        ways = self._ways(methods if self._client_secret else [NONE])
        for way in sorted(ways, key=lambda way: way.name != self._taken):
            try:
                return self._redeem_by(way, client, request)
            except ClientRefused as error:
                log.warning("The identity provider refused %s: %s", way.name, error)
                refused.append(f"{way.name} ({error})")
        raise ClientRefused(", ".join(refused))

    def _redeem_by(self, way: AuthMethod, client: Any, request: JsonObject) -> JsonObject:
        try:
            token = client.fetch_access_token(auth=way.credentials, **request)
        except OAuthError as error:
            if way.name == UNENCODED and error.error == "invalid_request":
                # So says a server that decodes, of what then makes no sense to it.
                raise ClientRefused(error.error) from error
            # Who finds fault with the code has let the client in.
            if error.error in CODE_ERRORS:
                self._taken = way.name
            raise
        self._taken = way.name
        return dict(token)

    def _ways(self, methods: Sequence[str]) -> Iterator[AuthMethod]:
        for method in methods:
            if method != BASIC:
                yield AuthMethod(
                    method, OAuth2ClientAuth(self._client_id, self._client_secret, method)
                )
                continue
            plain = self._client_id, self._client_secret
            encoded = quote_plus(self._client_id), quote_plus(self._client_secret)
            yield AuthMethod(BASIC, HTTPBasicAuth(*encoded))
            if encoded != plain:
                yield AuthMethod(UNENCODED, _basic(*plain))


def _basic(name: str, secret: str) -> AuthBase:
    # As bytes: of text, requests would take what Latin-1 has and no more.
    return HTTPBasicAuth(name.encode(), secret.encode())


def tell_refusals(session: Any) -> None:
    """Authlib looks at the error that an answer names; some servers say it by the status alone."""
    session.register_compliance_hook("access_token_response", _let_pass)


def _let_pass(response: requests.Response) -> requests.Response:
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
