"""The authenticators of an account, apps and passkeys alike: listed, named, added, removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select

from ...accounts.errors import AccountNotFound
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.actions import Action, Target
from ...core.clock import Clock
from ...core.context import report_action
from ...core.db.base import Base
from ...core.db.pruning import delete_in_batches
from ...core.db.transaction import AnySession, transaction
from ...core.types import AccountKey
from ..actions import (
    AUTHENTICATOR_ADDED,
    AUTHENTICATOR_REMOVED,
    AUTHENTICATOR_RENAMED,
    AUTHENTICATORS_RESET,
)
from ..errors import NotAuthorized
from .devices import TrustedDevices
from .errors import AuthenticatorNotFound, LastFactor, TooManyAuthenticators
from .models import Authenticator, RecoveryCode, TrustedDevice
from .notices import FactorNotices
from .policy import Requirement, hold
from .recovery_codes import RecoveryCodes

MOST = 10
# For which one waits to be confirmed.
WAITS = timedelta(minutes=10)


@dataclass(eq=False)
class Authenticators:
    session: AnySession
    accounts: Accounts
    recovery_codes: RecoveryCodes
    devices: TrustedDevices
    requirement: Requirement
    notices: FactorNotices
    clock: Clock

    def list(self, account_id: AccountKey) -> Sequence[Authenticator]:
        """Return the confirmed authenticators."""
        return self.session.scalars(
            select(Authenticator)
            .where(Authenticator.account_id == account_id, Authenticator.confirmed_at.is_not(None))
            .order_by(Authenticator.id)
        ).all()

    def rename(self, account_id: AccountKey, authenticator_id: int, name: str) -> Authenticator:
        with transaction(self.session):
            found = self._get(account_id, authenticator_id)
            found.name = name
            self._report(AUTHENTICATOR_RENAMED, found)
            return found

    def make_room(self, account: AccountLike) -> None:
        """For one more, within a transaction that holds the account. What was not confirmed in time
        goes."""
        mine = Authenticator.account_id == account.id
        over = Authenticator.created_at <= self.clock.now() - WAITS
        _delete(self.session, Authenticator, mine, Authenticator.confirmed_at.is_(None), over)
        if (self.session.scalar(select(func.count(Authenticator.id)).where(mine)) or 0) >= MOST:
            raise TooManyAuthenticators

    def added(self, account: AccountLike, made: Authenticator) -> Sequence[str] | None:
        """What comes with one that is confirmed by this transaction: its owner is told, and has
        recovery codes where there are none. They are shown here for the last time."""
        self.session.flush()
        self._report(AUTHENTICATOR_ADDED, made)
        self.notices.tell(self.notices.mails.added(account.email, made.name, made.kind))
        counts = made.kind in self.requirement.kinds
        if not counts or self.recovery_codes.left(account.id):
            return None
        return self.recovery_codes.make(account)

    def remove(self, account: AccountLike, authenticator_id: int) -> Authenticator:
        """Of two who remove the last two at once, the second meets what the first has left."""
        with transaction(self.session):
            hold(self.accounts, account)
            found = self._get(account.id, authenticator_id)
            kinds = self.requirement.kinds
            others = [each for each in self.list(account.id) if each.id != found.id]
            if found.kind in kinds and not any(each.kind in kinds for each in others):
                if self.requirement.holds_for(account):
                    raise LastFactor
                self.recovery_codes.forget(account.id)
                self.devices.forget(account.id)
            self.session.delete(found)
            self._report(AUTHENTICATOR_REMOVED, found)
            self.notices.tell(self.notices.mails.removed(account.email, found.name, found.kind))
            return found

    def forget(self, account_id: AccountKey, *which: Any) -> int:
        """Delete the account's authenticators, or those that match the conditions."""
        return _delete(self.session, Authenticator, Authenticator.account_id == account_id, *which)

    def prune(self, batch: int = 1_000) -> int:
        """Delete authenticators that were not confirmed in time."""
        return delete_in_batches(
            self.session,
            Authenticator,
            Authenticator.confirmed_at.is_(None),
            Authenticator.created_at <= self.clock.now() - WAITS,
            batch=batch,
        )

    def _get(self, account_id: AccountKey, authenticator_id: int) -> Authenticator:
        found = self.session.scalar(
            select(Authenticator).where(
                Authenticator.id == authenticator_id,
                Authenticator.account_id == account_id,
                Authenticator.confirmed_at.is_not(None),
            )
        )
        if found is None:
            raise AuthenticatorNotFound
        return found

    def _report(self, action: Action, about: Authenticator) -> None:
        target = Target("authenticator", about.id)
        report_action(
            self.session, action, account_id=about.account_id, target=target, kind=about.kind
        )


@dataclass(eq=False)
class FactorResets:
    """Removes all second factors of an account: for an owner who has lost them, by an admin, and
    where somebody else may have set them up, by a password reset."""

    session: AnySession
    accounts: Accounts
    notices: FactorNotices

    def reset(self, account: AccountLike) -> int:
        """How many authenticators there were. Every sign-in ends too: whoever asked the operator
        need not be who is signed in."""
        with transaction(self.session):
            gone = remove_factors(self.session, account)
            self.accounts.end_tokens(account)
            self.notices.tell(self.notices.mails.reset(account.email))
            return gone

    def reset_another(self, actor: AccountLike, account_id: AccountKey) -> int:
        """One's own are removed as everybody's are, with a factor."""
        if account_id == actor.id:
            raise NotAuthorized
        account = self.accounts.by_id(account_id)
        if account is None:
            raise AccountNotFound
        return self.reset(account)


def remove_factors(session: AnySession, account: AccountLike, since: datetime | None = None) -> int:
    """Delete the authenticators of an account and return how many there were.

    With a moment, delete only those that were set up since then. Earlier ones stay: whoever reads
    an email does not have the factor for that.
    """
    account_id = account.id
    which = [Authenticator.account_id == account_id]
    if since is not None:
        which.append(Authenticator.created_at >= since)
    gone = _delete(session, Authenticator, *which)
    if gone or since is None:
        _delete(session, RecoveryCode, RecoveryCode.account_id == account_id)
        _delete(session, TrustedDevice, TrustedDevice.account_id == account_id)
    if gone:
        report_action(session, AUTHENTICATORS_RESET, account_id=account_id, authenticators=gone)
    return gone


def _delete(session: AnySession, model: type[Base], *which: ColumnElement[bool]) -> int:
    deleted: Any = session.execute(
        delete(model).where(*which).execution_options(synchronize_session=False)
    )
    return int(deleted.rowcount)
