"""Refresh of a session: each refresh token is single-use, and its successor is computed.

The session's row has a counter, and a refresh token names the value at which it is valid. Of
simultaneous requests with one token, one increments the counter, by one statement and without a
lock. The others get the same successor, for some seconds and until the successor is used. A later
use of the token means that it was copied: the session ends and its owner is notified.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select, update

from ...accounts.models import DELETING, PENDING, AccountLike
from ...accounts.service import Accounts
from ...core.actions import Target
from ...core.context import BasicService, report_action
from ...core.db.transaction import after_commit, transaction
from ...core.translations import mark
from ...core.types import JsonObject
from ...delivery.mail.one_off import OwnerMail
from ...delivery.mail.templates import Templates
from ..actions import SESSION_REUSED
from ..settings import AuthSettings
from ..sign_in.policy import SignInPolicy
from .devices import label_of
from .management import BY_REUSE
from .models import TOKEN, AccountSession
from .refresh_token import ParsedToken, RefreshTokens
from .schemas import InvalidGrant

# Another request may increment the counter between the read and the update. That happens once: then
# only the successor is valid.
TRIES = 2


@dataclass(eq=False)
class Refresh(BasicService):
    accounts: Accounts
    policy: SignInPolicy
    tokens: RefreshTokens
    templates: Templates
    owner_mail: OwnerMail
    settings: AuthSettings

    def exchange(self, text: str) -> JsonObject:
        """Return the response of a sign-in for a valid refresh token; raise InvalidGrant."""
        claimed = self.tokens.read(text)
        with transaction(self.session):
            answer = self._exchange(claimed)
        # Raised after the commit, so that the end of a session is stored.
        if answer is None:
            raise InvalidGrant
        return answer

    def _exchange(self, claimed: ParsedToken) -> JsonObject | None:
        for _ in range(TRIES):
            stored = self._find(claimed)
            account = self.accounts.by_id(stored.account_id) if stored is not None else None
            if stored is None or account is None or not self._is_valid(stored, account):
                return None
            if stored.counter == claimed.counter:
                advanced = self._advance(stored)
                if advanced is not None:
                    return self.policy.refresh(account, advanced)
            elif self._is_successor_due(stored, claimed):
                return self.policy.refresh(account, stored)
            elif stored.counter > claimed.counter:
                self._end(stored, account)
                return None
            else:
                # The database was restored from a backup that is older than the token.
                return None
        return None

    def _find(self, claimed: ParsedToken) -> AccountSession | None:
        """Return the stored session that issued the token."""
        stored = self.session.scalar(
            select(AccountSession)
            .where(AccountSession.public_id == claimed.session_id, AccountSession.kind == TOKEN)
            .execution_options(populate_existing=True)
        )
        return stored if stored is not None and self.tokens.is_by(stored.secret, claimed) else None

    def _is_valid(self, stored: AccountSession, account: AccountLike) -> bool:
        """Apply the checks of the sign-in policy to the account, and of requests to the session."""
        now, since = self.clock.now(), account.tokens_valid_from
        if stored.ended_at is not None or now >= stored.ends_by(self.settings.session_limits):
            return False
        if account.logged_out_at is not None or (since is not None and stored.created_at < since):
            return False
        if account.status in (PENDING, DELETING) or not self.accounts.is_active(account):
            return False
        self.accounts.reinstate(account)
        return True

    def _advance(self, stored: AccountSession) -> AccountSession | None:
        """Increment the counter; return None if another request was first."""
        now = self.clock.now()
        return self.session.scalar(
            update(AccountSession)
            .where(
                AccountSession.id == stored.id,
                AccountSession.counter == stored.counter,
                AccountSession.ended_at.is_(None),
            )
            .values(
                counter=AccountSession.counter + 1,
                refreshed_at=now,
                used_at=now,
                expires_at=min(
                    stored.created_at + self.settings.session_limits.longest,
                    now + timedelta(days=self.settings.REFRESH_TOKEN_DAYS),
                ),
            )
            .returning(AccountSession)
            .execution_options(populate_existing=True, synchronize_session=False)
        )

    def _is_successor_due(self, stored: AccountSession, claimed: ParsedToken) -> bool:
        allowed = timedelta(seconds=self.settings.REFRESH_REUSE_SECONDS)
        return (
            stored.counter == claimed.counter + 1
            and stored.refreshed_at is not None
            and self.clock.now() - stored.refreshed_at <= allowed
        )

    def _end(self, stored: AccountSession, account: AccountLike) -> None:
        """End a session with a copied token: the server does not know the owner."""
        ended = self.session.scalar(
            update(AccountSession)
            .where(AccountSession.id == stored.id, AccountSession.ended_at.is_(None))
            .values(ended_at=self.clock.now(), end_reason=BY_REUSE)
            .returning(AccountSession.id)
            .execution_options(synchronize_session=False)
        )
        # Of several simultaneous requests, one ends the session and reports it.
        if ended is None:
            return
        report_action(
            self.session,
            SESSION_REUSED,
            account_id=account.id,
            target=Target("session", stored.public_id),
        )
        mail = self.templates.to_account(
            "signed_out",
            account.email,
            mark("we signed you out on one device"),
            device=label_of(stored.user_agent) or UNKNOWN,
            signed_in_on=stored.created_at.date(),
        )
        after_commit(self.session, lambda: self.owner_mail.notify(mail))


# Shown for a device with an unknown user agent.
UNKNOWN = mark("a device that we do not know")
