from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select, update

from ...core.db.transaction import AnySession
from ...core.types import AccountKey
from ..errors import PasskeyRefused
from ..mfa.models import PASSKEY_KIND, Authenticator
from ..webauthn.relying_party import VerifiedAssertion


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
    assertion: VerifiedAssertion
    at: datetime

    @property
    def has_copy(self) -> bool:
        """Whether the signature count has not increased. Most passkeys always send zero."""
        stored, sent = self.passkey.sign_count, self.assertion.sign_count
        return sent <= stored and (stored, sent) != (0, 0)


_COLUMNS = [getattr(Authenticator, name) for name in StoredPasskey._fields]


@dataclass(eq=False)
class Passkeys:
    session: AnySession

    def list(self, account_id: AccountKey) -> Sequence[Authenticator]:
        return self.session.scalars(
            select(Authenticator)
            .where(Authenticator.account_id == account_id, Authenticator.kind == PASSKEY_KIND)
            .order_by(Authenticator.id)
        ).all()

    def find(self, credential_id: bytes) -> StoredPasskey | None:
        """Return the stored columns: a loaded object may be outdated."""
        row = self.session.execute(
            select(*_COLUMNS).where(
                Authenticator.credential_id == credential_id, Authenticator.kind == PASSKEY_KIND
            )
        ).one_or_none()
        return StoredPasskey(*row) if row else None


def note_uses(session: AnySession, uses: Sequence[PasskeyUse]) -> None:
    """Store signature counts; raise PasskeyRefused if another request has sent the same count.

    Each count is compared and stored in one statement.
    """
    stored = Authenticator.sign_count
    for passkey, assertion, at in uses:
        sent = assertion.sign_count
        used = session.execute(
            update(Authenticator)
            .where(Authenticator.id == passkey.id, stored <= sent if sent == 0 else stored < sent)
            .values(sign_count=sent, backed_up=assertion.is_backed_up, last_used_at=at)
            .returning(Authenticator.id)
            .execution_options(synchronize_session=False)
        )
        if used.one_or_none() is None:
            raise PasskeyRefused("another_was_faster", account_id=passkey.account_id)
