"""Going on with a session: a refresh token is good once, and its successor is worked out.

The row counts how often it was refreshed, and a token names the step at which it counts. Of many
that come at once one takes the step, by one statement and without holding a lock; the others find
it taken and are answered with the same successor, for some seconds and as long as that was not
used itself. Whoever comes later than that has a copy: the session ends and its owner is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, update

from ...accounts.models import DELETING, PENDING, AccountLike
from ...accounts.service import Accounts
from ...core.actions import Target
from ...core.config.settings import CoreSettings
from ...core.context import BasicService, report_action
from ...core.db.transaction import after_commit, transaction
from ...core.types import JsonObject
from ...delivery.mail.one_off import OneOffMail
from ...delivery.mail.templates import Templates
from ...delivery.message import Email
from ..actions import SESSION_REUSED
from ..settings import AuthSettings
from ..sign_in.policy import SignInPolicy
from .devices import label_of
from .management import BY_REUSE
from .models import TOKEN, AccountSession
from .refresh_token import ParsedToken, RefreshTokens
from .schemas import InvalidGrant

# How often a step may be taken by another between our reading of the row and our taking it: once,
# and then only its successor is valid.
TRIES = 2


@dataclass(eq=False)
class Refresh(BasicService):
    accounts: Accounts
    policy: SignInPolicy
    tokens: RefreshTokens
    mails: SessionMails
    notices: OneOffMail
    settings: AuthSettings

    def exchange(self, text: str) -> JsonObject:
        """What a sign-in answers, for a refresh token that counts; otherwise InvalidGrant."""
        claimed = self.tokens.read(text)
        with transaction(self.session):
            answer = self._exchange(claimed)
        # Raised out here, so that the end of a session stays written.
        if answer is None:
            raise InvalidGrant
        return answer

    def _exchange(self, claimed: ParsedToken) -> JsonObject | None:
        for _ in range(TRIES):
            held = self._find(claimed)
            account = self.accounts.by_id(held.account_id) if held is not None else None
            if held is None or account is None or not self._counts(held, account):
                return None
            if held.counter == claimed.counter:
                stepped = self._step(held)
                if stepped is not None:
                    return self.policy.go_on(account, stepped)
            elif self._is_successor_due(held, claimed):
                return self.policy.go_on(account, held)
            elif held.counter > claimed.counter:
                self._end(held, account)
                return None
            else:
                # Of a step that a database brought back from a backup knows nothing of.
                return None
        return None

    def _find(self, claimed: ParsedToken) -> AccountSession | None:
        """Return the stored session that issued the token."""
        held = self.session.scalar(
            select(AccountSession)
            .where(AccountSession.public_id == claimed.session_id, AccountSession.kind == TOKEN)
            .execution_options(populate_existing=True)
        )
        return held if held is not None and self.tokens.is_by(held.secret, claimed) else None

    def _counts(self, held: AccountSession, account: AccountLike) -> bool:
        """As the gate asks it of an account, and each request of a session."""
        now, since = self.clock.now(), account.tokens_valid_from
        if held.ended_at is not None or now >= held.ends_by(self.settings.session_limits):
            return False
        if account.logged_out_at is not None or (since is not None and held.created_at < since):
            return False
        if account.status in (PENDING, DELETING) or not self.accounts.is_active(account):
            return False
        self.accounts.reinstate(account)
        return True

    def _step(self, held: AccountSession) -> AccountSession | None:
        """None where another was first."""
        now = self.clock.now()
        return self.session.scalar(
            update(AccountSession)
            .where(
                AccountSession.id == held.id,
                AccountSession.counter == held.counter,
                AccountSession.ended_at.is_(None),
            )
            .values(
                counter=AccountSession.counter + 1,
                refreshed_at=now,
                used_at=now,
                expires_at=min(
                    held.created_at + self.settings.session_limits.longest,
                    now + timedelta(days=self.settings.REFRESH_TOKEN_DAYS),
                ),
            )
            .returning(AccountSession)
            .execution_options(populate_existing=True, synchronize_session=False)
        )

    def _is_successor_due(self, held: AccountSession, claimed: ParsedToken) -> bool:
        allowed = timedelta(seconds=self.settings.REFRESH_REUSE_SECONDS)
        return (
            held.counter == claimed.counter + 1
            and held.refreshed_at is not None
            and self.clock.now() - held.refreshed_at <= allowed
        )

    def _end(self, held: AccountSession, account: AccountLike) -> None:
        """End a session with a copied token: the server does not know which holder is the owner."""
        ended = self.session.scalar(
            update(AccountSession)
            .where(AccountSession.id == held.id, AccountSession.ended_at.is_(None))
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
            target=Target("session", held.public_id),
        )
        mail = self.mails.signed_out(account.email, label_of(held.user_agent), held.created_at)
        after_commit(self.session, lambda: self.notices.send_soon(mail))


# A device that says nothing of itself.
UNKNOWN = "a device that we do not know"


@dataclass(eq=False)
class SessionMails:
    """The email to an owner whose refresh token was used twice."""

    core: CoreSettings
    templates: Templates

    def signed_out(self, email_to: str, label: str | None, since: datetime) -> Email:
        return self.templates.to_account(
            self.core,
            "signed_out",
            email_to,
            f"{self.core.PROJECT_NAME}: we signed you out on one device",
            device=label or UNKNOWN,
            signed_in_on=f"{since:%Y-%m-%d}",
        )
