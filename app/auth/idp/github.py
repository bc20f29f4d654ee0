"""GitHub: OAuth 2.0 without OpenID Connect. The user and the email address come from its API.

https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
"""

from typing import Any

from authlib.integrations.flask_client import FlaskIntegration, FlaskOAuth2App

from ...core.config.settings import reveal
from ...core.request import note_effect
from ...core.types import JsonObject
from ..errors import InvalidLogoutToken
from .calls import ProviderCalls
from .client_auth import POST, TokenEndpoint, detect_refusals
from .discovery import InvalidProviderResponse, session_options
from .pending import PendingSignIn
from .provider import Provider

AUTHORIZE_URL = "https://github.com/login/oauth/authorize"
TOKEN_URL = "https://github.com/login/oauth/access_token"
API_URL = "https://api.github.com"
# Needed for the addresses; the profile itself is public.
SCOPE = "user:email"


class GitHubProvider:
    def __init__(self, provider: Provider) -> None:
        secret = reveal(provider.secret)
        self._issuer = provider.issuer
        self._calls = ProviderCalls(provider.name, API_URL)
        self._token_endpoint = TokenEndpoint(provider.client_id, lambda: secret)
        self._client = FlaskOAuth2App(
            FlaskIntegration("idp"),
            "idp",
            client_id=provider.client_id,
            client_secret=secret,
            authorize_url=AUTHORIZE_URL,
            access_token_url=TOKEN_URL,
            client_kwargs=session_options(SCOPE, pkce=True),
            compliance_fix=detect_refusals,
        )

    def begin(self, redirect_uri: str) -> tuple[str, PendingSignIn]:
        """Return the URL for the browser, and what to remember until the callback."""
        found = self._client.create_authorization_url(redirect_uri)
        pending = PendingSignIn(found["state"], redirect_uri, "", found["code_verifier"])
        return found["url"], pending

    def claims(
        self, code: str, redirect_uri: str, pending: PendingSignIn | None
    ) -> tuple[JsonObject, str]:
        """Return the user and the primary address, as an OpenID Connect provider returns them."""
        verifier = pending.code_verifier if pending else ""
        request = {"code": code, "redirect_uri": redirect_uri, "code_verifier": verifier}

        def fetch() -> JsonObject:
            token = self._token_endpoint.redeem(self._client, [POST], **request)
            user = self._read("/user", token, dict)
            addresses = self._read("/user/emails?per_page=100", token, list)
            return self._as_claims(user, addresses)

        # GitHub accepts the code only once.
        note_effect()
        return self._calls.run(fetch), ""

    def logout_url(self, id_token: str | None, return_url: str | None) -> None:
        """Return None: GitHub has no page for sign-out."""

    def logout_claims(self, token: str) -> JsonObject:
        # GitHub has no logout tokens.
        raise InvalidLogoutToken

    def _read(self, path: str, token: JsonObject, kind: type[Any]) -> Any:
        response = self._client.get(f"{API_URL}{path}", token=token)
        if response.status_code != 200:
            raise InvalidProviderResponse(f"{path} has the status {response.status_code}")
        found = response.json()
        if not isinstance(found, kind):
            raise InvalidProviderResponse(f"{path} has another form than documented")
        return found

    def _as_claims(self, user: JsonObject, addresses: list[JsonObject]) -> JsonObject:
        # The login name can pass to another user, the numeric id cannot.
        if type(user.get("id")) is not int:
            raise InvalidProviderResponse("/user has no numeric id")
        primary: JsonObject = next((each for each in addresses if each.get("primary") is True), {})
        return {
            "iss": self._issuer,
            "sub": str(user["id"]),
            "email": primary.get("email"),
            "email_verified": primary.get("verified") is True,
            "name": user.get("name"),
            "preferred_username": user.get("login"),
            "picture": user.get("avatar_url"),
        }
