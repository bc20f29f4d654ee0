"""Trusted devices, which are not asked for a second factor for some days.

The client keeps a secret. The database has a digest of the secret, the account's email address and
the account's password hash: when the address or the password changes, no device is trusted anymore.
"""

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, select

from ...accounts.models import AccountLike
from ...core.actions import Target
from ...core.clock import Clock
from ...core.context import report_action
from ...core.db.pruning import delete_in_batches, delete_rows
from ...core.db.transaction import AnySession, transaction
from ...core.request import current_origin
from ...core.types import AccountKey
from ..actions import DEVICE_FORGOTTEN, DEVICE_TRUSTED
from ..sessions.devices import stored_ip_address, stored_user_agent
from .errors import TrustedDeviceNotFound
from .models import TrustedDevice
from .notices import FactorNotices

SECRET_BYTES = 32
# Trusted devices of one account. A new device replaces the oldest.
MAX_DEVICES = 20
_TARGET = "trusted_device"


@dataclass(eq=False)
class TrustedDevices:
    session: AnySession
    notices: FactorNotices
    clock: Clock
    days: int
    # AUTH.SESSION_ADDRESSES: full, network or none.
    addresses: str

    def trust(self, account: AccountLike) -> str:
        """Add a device within the transaction of a sign-in, and return its secret, which is not
        stored."""
        secret, now, origin = (
            secrets.token_urlsafe(SECRET_BYTES),
            self.clock.now(),
            current_origin(),
        )
        self._delete_oldest(account.id)
        device = TrustedDevice(
            account_id=account.id,
            digest=_digest(account, secret),
            user_agent=stored_user_agent(origin.user_agent),
            ip=stored_ip_address(origin.address, self.addresses),
            created_at=now,
            expires_at=now + timedelta(days=self.days),
        )
        self.session.add(device)
        self.session.flush()
        target = Target(_TARGET, device.id)
        report_action(self.session, DEVICE_TRUSTED, account_id=account.id, target=target)
        self.notices.device_trusted(account.email, self.days)
        return secret

    def is_trusted(self, account: AccountLike, secret: str) -> bool:
        """Look a device up by its secret, within the transaction of a sign-in."""
        if not self.days:
            return False
        found = self.session.scalar(
            select(TrustedDevice).where(
                TrustedDevice.digest == _digest(account, secret), *self._valid(account.id)
            )
        )
        if found is None:
            return False
        found.last_used_at = self.clock.now()
        return True

    def list(self, account_id: AccountKey) -> Sequence[TrustedDevice]:
        newest = select(TrustedDevice).where(*self._valid(account_id))
        return self.session.scalars(newest.order_by(TrustedDevice.id.desc())).all()

    def revoke(self, account_id: AccountKey, device_id: int) -> TrustedDevice:
        with transaction(self.session) as session:
            found = session.scalar(
                select(TrustedDevice).where(
                    TrustedDevice.id == device_id, TrustedDevice.account_id == account_id
                )
            )
            if found is None:
                raise TrustedDeviceNotFound
            session.delete(found)
            target = Target(_TARGET, device_id)
            report_action(session, DEVICE_FORGOTTEN, account_id=account_id, target=target)
            return found

    def delete(self, account_id: AccountKey) -> None:
        delete_rows(self.session, TrustedDevice, TrustedDevice.account_id == account_id)

    def prune(self, batch: int = 1_000) -> int:
        expired = TrustedDevice.expires_at <= self.clock.now()
        return delete_in_batches(self.session, TrustedDevice, expired, batch=batch)

    def _valid(self, account_id: AccountKey) -> tuple[ColumnElement[bool], ...]:
        """Return the conditions of a valid device, under the current, maybe stricter setting."""
        now = self.clock.now()
        return (
            TrustedDevice.account_id == account_id,
            TrustedDevice.expires_at > now,
            TrustedDevice.created_at > now - timedelta(days=self.days),
        )

    def _delete_oldest(self, account_id: AccountKey) -> None:
        newest = (
            select(TrustedDevice.id)
            .where(*self._valid(account_id))
            .order_by(TrustedDevice.id.desc())
            .limit(MAX_DEVICES - 1)
        )
        kept = self.session.scalars(newest).all()
        of_account = TrustedDevice.account_id == account_id
        delete_rows(self.session, TrustedDevice, of_account, TrustedDevice.id.not_in(kept))


def _digest(account: AccountLike, secret: str) -> str:
    """Return a digest without a key: the secret has enough random bits."""
    parts = [secret, account.email, account.password_hash]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
