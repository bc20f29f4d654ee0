"""The authenticators of an account, apps and passkeys: list, rename, add, remove and reset them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select

from ...accounts.errors import AccountNotFound
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.actions import Action, Target
from ...core.clock import Clock
from ...core.context import report_action
from ...core.db.pruning import delete_in_batches, delete_rows
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
from .errors import AuthenticatorNotFound, LastFactor, NoFactor, TooManyAuthenticators
from .models import Authenticator, RecoveryCode, TrustedDevice
from .notices import FactorNotices
from .policy import Requirement, lock_unchanged
from .recovery_codes import RecoveryCodes

# Authenticators of one account.
MAX_AUTHENTICATORS = 10
CONFIRM_WITHIN = timedelta(minutes=10)


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

    def check_limit(self, account: AccountLike) -> None:
        """Raise TooManyAuthenticators if the account cannot have another authenticator.

        The open transaction has locked the account. Authenticators that were not confirmed in time
        are deleted first.
        """
        of_account = Authenticator.account_id == account.id
        delete_rows(self.session, Authenticator, of_account, *self._expired())
        count = self.session.scalar(select(func.count(Authenticator.id)).where(of_account))
        if (count or 0) >= MAX_AUTHENTICATORS:
            raise TooManyAuthenticators

    def finish_setup(
        self, account: AccountLike, authenticator: Authenticator
    ) -> Sequence[str] | None:
        """Notify the owner of an authenticator that the open transaction confirms.

        Return recovery codes if it is a second factor and the account has no codes yet.
        """
        self.session.flush()
        self._report(AUTHENTICATOR_ADDED, authenticator)
        self.notices.authenticator_added(account.email, authenticator.name, authenticator.kind)
        is_factor = authenticator.kind in self.requirement.kinds
        if not is_factor or self.recovery_codes.count_left(account.id):
            return None
        return self.recovery_codes.create(account)

    def renew_recovery_codes(self, account: AccountLike) -> Sequence[str]:
        """Replace the recovery codes; raise NoFactor for an account without a second factor."""
        with transaction(self.session):
            account = lock_unchanged(self.accounts, account)
            if not self._has_factor(self.list(account.id)):
                raise NoFactor
            codes = self.recovery_codes.create(account)
            self.notices.recovery_codes_created(account.email)
            return codes

    def remove(self, account: AccountLike, authenticator_id: int) -> Authenticator:
        """Remove an authenticator; raise LastFactor if the account must keep it.

        The account is locked: two requests cannot remove the last two authenticators at once.
        """
        with transaction(self.session) as session:
            lock_unchanged(self.accounts, account)
            found = self._get(account.id, authenticator_id)
            others = [other for other in self.list(account.id) if other.id != found.id]
            if self._has_factor([found]):
                # A device may be trusted because of the removed factor.
                self.devices.delete(account.id)
                if not self._has_factor(others):
                    if self.requirement.applies_to(account):
                        raise LastFactor
                    self.recovery_codes.delete(account.id)
            session.delete(found)
            self._report(AUTHENTICATOR_REMOVED, found)
            self.notices.authenticator_removed(account.email, found.name, found.kind)
            return found

    def reset(self, account: AccountLike) -> int:
        """Remove all second factors of an account and return how many authenticators it had.

        Every sign-in ends too: the person who asked the operator may not be the one signed in.
        """
        with transaction(self.session) as session:
            removed = remove_factors(session, account)
            self.accounts.end_tokens(account)
            self.notices.authenticators_reset(account.email)
            return removed

    def reset_by_admin(self, admin: AccountLike, account_id: AccountKey) -> int:
        """Reset another account. Admins remove their own authenticators like any other user."""
        if account_id == admin.id:
            raise NotAuthorized
        account = self.accounts.by_id(account_id)
        if account is None:
            raise AccountNotFound
        return self.reset(account)

    def prune(self, batch: int = 1_000) -> int:
        """Delete authenticators that were not confirmed in time."""
        return delete_in_batches(self.session, Authenticator, *self._expired(), batch=batch)

    def _expired(self) -> tuple[ColumnElement[bool], ...]:
        return (
            Authenticator.confirmed_at.is_(None),
            Authenticator.created_at <= self.clock.now() - CONFIRM_WITHIN,
        )

    def _has_factor(self, authenticators: Sequence[Authenticator]) -> bool:
        return any(each.kind in self.requirement.kinds for each in authenticators)

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

    def _report(self, action: Action, authenticator: Authenticator) -> None:
        report_action(
            self.session,
            action,
            account_id=authenticator.account_id,
            target=Target("authenticator", authenticator.id),
            kind=authenticator.kind,
        )


def remove_factors(session: AnySession, account: AccountLike, since: datetime | None = None) -> int:
    """Delete the authenticators of an account and return how many there were.

    With a moment, delete only authenticators that were set up since then. Earlier ones stay: access
    to the owner's email is not enough to remove them.
    """
    account_id = account.id
    conditions = [Authenticator.account_id == account_id]
    if since is not None:
        conditions.append(Authenticator.created_at >= since)
    removed = delete_rows(session, Authenticator, *conditions)
    if removed or since is None:
        delete_rows(session, RecoveryCode, RecoveryCode.account_id == account_id)
        delete_rows(session, TrustedDevice, TrustedDevice.account_id == account_id)
    if removed:
        report_action(session, AUTHENTICATORS_RESET, account_id=account_id, authenticators=removed)
    return removed
