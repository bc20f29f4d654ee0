"""Devices that are not asked for a second factor for some days.

One is known by a secret that it keeps. What is stored is a digest of that together with the
account's address and password: when either changes, by whatever way, no device is known any more.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select

from ...accounts.models import AccountLike
from ...core.actions import Target
from ...core.clock import Clock
from ...core.context import report_action
from ...core.db.pruning import delete_in_batches
from ...core.db.transaction import AnySession, transaction
from ...core.request import current_origin
from ...core.types import AccountKey
from ..actions import DEVICE_FORGOTTEN, DEVICE_TRUSTED
from ..sign_in.stored_origin import kept_address, kept_user_agent
from .errors import TrustedDeviceNotFound
from .models import TrustedDevice
from .notices import FactorNotices

SECRET_BYTES = 32
# Their number for one account: the oldest makes room.
MOST = 20
_TARGET = "trusted_device"


@dataclass(eq=False)
class TrustedDevices:
    session: AnySession
    notices: FactorNotices
    clock: Clock
    days: int
    # full, network or none.
    addresses: str

    def trust(self, account: AccountLike) -> str:
        """The secret of a new one, within the transaction of a sign-in; here for the last time."""
        secret, now, origin = (
            secrets.token_urlsafe(SECRET_BYTES),
            self.clock.now(),
            current_origin(),
        )
        self._make_room(account.id)
        made = TrustedDevice(
            account_id=account.id,
            digest=_digest(account, secret),
            user_agent=kept_user_agent(origin.user_agent),
            ip=kept_address(origin.address, self.addresses),
            created_at=now,
            expires_at=now + timedelta(days=self.days),
        )
        self.session.add(made)
        self.session.flush()
        report_action(
            self.session,
            DEVICE_TRUSTED,
            account_id=account.id,
            target=Target(_TARGET, made.id),
        )
        self.notices.tell(self.notices.mails.device_trusted(account.email, self.days))
        return secret

    def knows(self, account: AccountLike, secret: str) -> bool:
        """Within the transaction of a sign-in."""
        if not self.days:
            return False
        found = self.session.scalar(
            select(TrustedDevice).where(
                TrustedDevice.digest == _digest(account, secret), *self._alive(account.id)
            )
        )
        if found is None:
            return False
        found.last_used_at = self.clock.now()
        return True

    def list(self, account_id: AccountKey) -> Sequence[TrustedDevice]:
        newest = select(TrustedDevice).where(*self._alive(account_id))
        return self.session.scalars(newest.order_by(TrustedDevice.id.desc())).all()

    def revoke(self, account_id: AccountKey, device_id: int) -> TrustedDevice:
        with transaction(self.session):
            found = self.session.scalar(
                select(TrustedDevice).where(
                    TrustedDevice.id == device_id, TrustedDevice.account_id == account_id
                )
            )
            if found is None:
                raise TrustedDeviceNotFound
            self.session.delete(found)
            target = Target(_TARGET, device_id)
            report_action(self.session, DEVICE_FORGOTTEN, account_id=account_id, target=target)
            return found

    def forget(self, account_id: AccountKey) -> None:
        """All of an account's."""
        self._delete(TrustedDevice.account_id == account_id)

    def prune(self, batch: int = 1_000) -> int:
        over = TrustedDevice.expires_at <= self.clock.now()
        return delete_in_batches(self.session, TrustedDevice, over, batch=batch)

    def _alive(self, account_id: AccountKey) -> tuple[Any, ...]:
        """Return the conditions of a valid device, under the current, maybe stricter setting."""
        now = self.clock.now()
        return (
            TrustedDevice.account_id == account_id,
            TrustedDevice.expires_at > now,
            TrustedDevice.created_at > now - timedelta(days=self.days),
        )

    def _make_room(self, account_id: AccountKey) -> None:
        newest = (
            select(TrustedDevice.id)
            .where(*self._alive(account_id))
            .order_by(TrustedDevice.id.desc())
            .limit(MOST - 1)
        )
        kept = self.session.scalars(newest).all()
        self._delete(TrustedDevice.account_id == account_id, TrustedDevice.id.not_in(kept))

    def _delete(self, *which: Any) -> None:
        self.session.execute(
            delete(TrustedDevice).where(*which).execution_options(synchronize_session=False)
        )


def _digest(account: AccountLike, secret: str) -> str:
    """Of so many random bits no key is needed."""
    parts = [secret, account.email, account.password_hash]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
