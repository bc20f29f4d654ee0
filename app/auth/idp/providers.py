"""The registry of identity providers. Each one's client is created at its first use, because it
imports large libraries."""

from collections.abc import Iterable
from itertools import combinations
from threading import Lock
from typing import Protocol

from ...core.config.environment import SettingsError
from ...core.types import Values
from ..errors import ProviderNotFound
from .pending import PendingSignIn
from .provider import GITHUB, Provider


class IdpClient(Protocol):
    def begin(self, redirect_uri: str) -> tuple[str, PendingSignIn]:
        """Return the URL for the browser, and what to remember until the callback."""

    def claims(
        self, code: str, redirect_uri: str, pending: PendingSignIn | None
    ) -> tuple[Values, str]:
        """Return the verified claims of the user for whom the provider issued `code`, and the ID
        token; empty without OpenID Connect."""

    def logout_url(self, id_token: str | None, return_url: str | None) -> str | None:
        """Return the provider's page for sign-out; None if the provider has no such page.

        The page recognizes the session by the ID token, and can return to `return_url`.
        """

    def logout_claims(self, token: str) -> Values:
        """Return the claims of a logout token; raise InvalidLogoutToken."""


class Providers(dict[str, Provider]):
    """The identity providers of one application by name."""

    def __init__(self, providers: Iterable[Provider]) -> None:
        super().__init__((each.name, each) for each in providers)
        self._clients: dict[str, IdpClient] = {}
        self._lock = Lock()
        for one, other in combinations(self.values(), 2):
            if one.overlaps(other):
                raise SettingsError(
                    f"AUTH.PROVIDERS: the identity providers {one.name} and {other.name} have the"
                    f" same issuer, {one.issuer}."
                )

    def find(self, name: str) -> Provider:
        """Return the provider; raise ProviderNotFound."""
        if name not in self:
            raise ProviderNotFound
        return self[name]

    def client(self, name: str) -> IdpClient:
        with self._lock:
            if name not in self._clients:
                self._clients[name] = _open(self[name])
            return self._clients[name]


def _open(provider: Provider) -> IdpClient:
    if provider.kind == GITHUB:
        from .github import GitHubProvider

        return GitHubProvider(provider)
    from .oidc import OpenIdProvider

    return OpenIdProvider(provider)
