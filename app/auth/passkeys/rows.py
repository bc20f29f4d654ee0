from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select, update

from ...core.db.transaction import AnySession, insert_new
from ...core.types import AccountKey
from ..errors import PasskeyRefused
from ..mfa.models import PASSKEY_KIND, Authenticator
from .relying_party import VerifiedAssertion


class StoredPasskey(NamedTuple):
    """The columns of a passkey that verify a signature."""

    id: int
    account_id: AccountKey
    public_key: bytes
    user_handle: bytes
    sign_count: int
    name: str


class PasskeyUse(NamedTuple):
    passkey: StoredPasskey
    shown: VerifiedAssertion
    at: datetime

    @property
    def has_copy(self) -> bool:
        """Its count is not higher than it was. Most count nothing, and say zero each time."""
        stored, told = self.passkey.sign_count, self.shown.sign_count
        return told <= stored and (stored, told) != (0, 0)


_REGISTERED = [getattr(Authenticator, name) for name in StoredPasskey._fields]


@dataclass(eq=False)
class Passkeys:
    """The rows of registered passkeys."""

    session: AnySession

    def of(self, account_id: AccountKey) -> Sequence[Authenticator]:
        return self.session.scalars(
            select(Authenticator)
            .where(Authenticator.account_id == account_id, Authenticator.kind == PASSKEY_KIND)
            .order_by(Authenticator.id)
        ).all()

    def find(self, credential_id: bytes) -> StoredPasskey | None:
        """Return the stored row: an earlier read may be outdated."""
        row = self.session.execute(
            select(*_REGISTERED).where(
                Authenticator.credential_id == credential_id, Authenticator.kind == PASSKEY_KIND
            )
        ).one_or_none()
        return StoredPasskey(*row) if row else None

    def insert(self, **values: object) -> Authenticator | None:
        """Insert the passkey; return None if an account has it already."""
        return insert_new(self.session, Authenticator, kind=PASSKEY_KIND, **values)


def note_uses(session: AnySession, uses: Sequence[PasskeyUse]) -> None:
    """Compared and stored in one statement: of two that say the same count, one passes."""
    stored = Authenticator.sign_count
    for passkey, shown, at in uses:
        used = session.execute(
            update(Authenticator)
            .where(
                Authenticator.id == passkey.id,
                stored <= shown.sign_count if shown.sign_count == 0 else stored < shown.sign_count,
            )
            .values(sign_count=shown.sign_count, backed_up=shown.is_backed_up, last_used_at=at)
            .returning(Authenticator.id)
            .execution_options(synchronize_session=False)
        )
        if used.one_or_none() is None:
            raise PasskeyRefused("another_was_faster", account_id=passkey.account_id)
