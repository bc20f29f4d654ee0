"""Sign-out at identity providers, and by them."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import select

from ...core.context import BasicService
from ..caller import Caller
from ..errors import ProviderUnavailable
from .models import Identity
from .provider_sessions import ProviderSessions
from .providers import Providers


@dataclass(eq=False)
class ProviderSignOut(BasicService):
    providers: Providers
    # None in an application without stored sessions.
    sessions: ProviderSessions | None
    # The page to which the provider returns the browser.
    return_url: str | None

    def prepare(self, caller: Caller | None) -> Callable[[], str | None]:
        """Return a function that returns the page of the caller's provider for sign-out, or None.
        The function may call the provider, and is for use after the sign-out."""
        found = self._find_sign_in(caller) if caller is not None else None
        return lambda: self._url(*found) if found is not None else None

    def _find_sign_in(self, caller: Caller) -> tuple[str, str | None] | None:
        """Return the issuer and the ID token of the caller's sign-in. Without a stored session, the
        issuer is that of the identity that the account used last."""
        if caller.session is not None and self.sessions is not None:
            return self.sessions.find(caller.session.id)
        own = Identity.account_id == caller.account.id
        newest = Identity.last_used_at.desc(), Identity.id.desc()
        issuer = self.session.scalar(select(Identity.issuer).where(own).order_by(*newest).limit(1))
        return None if issuer is None else (issuer, None)

    def _url(self, issuer: str, id_token: str | None) -> str | None:
        for provider in self.providers.values():
            if provider.is_issuer(issuer):
                # The user is signed out here also while the provider does not respond.
                with suppress(ProviderUnavailable):
                    return self.providers.client(provider.name).logout_url(
                        id_token, self.return_url
                    )
        return None
