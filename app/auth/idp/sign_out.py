"""Sign-out at identity providers, and by them."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from hashlib import sha256

from sqlalchemy import select

from ...accounts.service import Accounts
from ...core.actions import Target
from ...core.context import BasicService, report_action
from ...core.db.transaction import after_rollback, transaction
from ..actions import SESSION_ENDED
from ..caller import Caller
from ..errors import InvalidLogoutToken, ProviderUnavailable
from .identities import Identities
from .models import Identity
from .provider_sessions import BY_PROVIDER, ProviderSessions
from .providers import Providers

log = logging.getLogger(__name__)

# How long a used logout token is remembered: longer than any token is accepted.
SECONDS = 900


@dataclass(eq=False)
class ProviderSignOut(BasicService):
    providers: Providers
    # None in an application without stored sessions.
    sessions: ProviderSessions | None
    # The page to which the provider returns the browser.
    return_url: str | None
    accounts: Accounts
    identities: Identities
    _: KW_ONLY
    # Off: sign-ins by token have no session.
    keeps_sessions: bool

    def prepare(self, caller: Caller | None) -> Callable[[], str | None]:
        """Return a function that returns the page of the caller's provider for sign-out, or None.
        The function may call the provider, and is for use after the sign-out."""
        found = self._find_sign_in(caller) if caller is not None else None
        return lambda: self._url(*found) if found is not None else None

    def end(self, name: str, token: str) -> None:
        """End the sessions of a logout token; raise InvalidLogoutToken.

        Where sign-ins have no sessions, all access tokens of the account are revoked.
        """
        claims = self.providers.client(name).logout_claims(token)
        with transaction(self.session) as session:
            self._use_up(name, claims["jti"])
            ended = self.sessions.end(claims) if self.sessions is not None else []
            for account_id, public_id in ended:
                target = Target("session", str(public_id))
                report_action(
                    session, SESSION_ENDED, account_id=account_id, target=target, reason=BY_PROVIDER
                )
            is_other_sign_in = not (ended and "sid" in claims)
            if not self.keeps_sessions and "sub" in claims and is_other_sign_in:
                account = self.identities.owner(claims["iss"], claims["sub"])
                if account is not None:
                    self.accounts.end_tokens(account)
                    report_action(session, SESSION_ENDED, account_id=account.id, reason=BY_PROVIDER)

    def _use_up(self, name: str, token_id: str) -> None:
        """Use a token up within the open transaction. A rollback makes it valid again."""
        key = f"idp-logout:{sha256(f'{name}/{token_id}'.encode()).hexdigest()}"
        if not self.basics.keystore.add(key, "used", SECONDS):
            log.warning("A logout token was rejected: jti %.300r was used before", token_id)
            raise InvalidLogoutToken
        after_rollback(self.session, lambda: self.basics.keystore.drop(key))

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
