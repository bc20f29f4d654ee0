"""Ten single-use recovery codes for an account: shown when they are created, and stored as keyed
digests only."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select, update

from ...accounts.models import AccountLike
from ...core.clock import Clock
from ...core.context import report_action
from ...core.db.account_ids import serialize_id
from ...core.db.pruning import delete_rows
from ...core.db.transaction import AnySession, execute_bulk, write_last
from ...core.types import AccountKey
from ..actions import RECOVERY_CODE_USED, RECOVERY_CODES_CREATED
from ..proof_names import RECOVERY_CODE
from ..sealing import derive_key, key_id
from .errors import WrongFactor
from .models import RecoveryCode
from .notices import FactorNotices

CODES = 10
# Characters that cannot be mistaken for each other.
ALPHABET = "abcdefghjkmnpqrstvwxyz23456789"
HALF = 4


class UsedCode(NamedTuple):
    id: int
    at: datetime


class CodeDigests:
    """Keyed digests of codes: a code has only forty bits, which an unkeyed digest would reveal.

    Each digest names its key, so that operators learn which keys are still needed.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [derive_key(key, b"frontdesk.recovery-codes") for key in keys]

    def digest(self, account_id: AccountKey, code: str) -> str:
        return _digest(self._keys[0], account_id, code)

    def all_digests(self, account_id: AccountKey, code: str) -> list[str]:
        return [_digest(key, account_id, code) for key in self._keys]

    @property
    def current_prefix(self) -> str:
        """Return the prefix of digests with the first key."""
        return f"{key_id(self._keys[0]).hex()}:"


@dataclass(eq=False)
class RecoveryCodes:
    session: AnySession
    digests: CodeDigests
    notices: FactorNotices
    clock: Clock

    def create(self, account: AccountLike) -> list[str]:
        """Replace the account's codes within the open transaction, and return the new ones."""
        self.delete(account.id)
        codes = [_new_code() for _ in range(CODES)]
        self.session.add_all(
            RecoveryCode(account_id=account.id, digest=self.digests.digest(account.id, plain(code)))
            for code in codes
        )
        self.session.flush()
        report_action(self.session, RECOVERY_CODES_CREATED, account_id=account.id)
        return codes

    def check(self, account: AccountLike, code: object) -> str | None:
        """Return the proof if the code is valid, and use the code up with the transaction."""
        digests = self.digests.all_digests(account.id, plain(str(code)))
        found = self.session.scalar(
            select(RecoveryCode.id).where(
                RecoveryCode.account_id == account.id,
                RecoveryCode.digest.in_(digests),
                RecoveryCode.used_at.is_(None),
            )
        )
        if found is None:
            return None
        left = self.count_left(account.id) - 1
        write_last(self.session, use_codes, UsedCode(found, self.clock.now()))
        report_action(self.session, RECOVERY_CODE_USED, account_id=account.id, left=left)
        self.notices.recovery_code_used(account.email, left)
        return RECOVERY_CODE

    def count_left(self, account_id: AccountKey) -> int:
        unused = select(func.count(RecoveryCode.id)).where(
            RecoveryCode.account_id == account_id, RecoveryCode.used_at.is_(None)
        )
        return self.session.scalar(unused) or 0

    def delete(self, account_id: AccountKey) -> None:
        delete_rows(self.session, RecoveryCode, RecoveryCode.account_id == account_id)


def use_codes(session: AnySession, used: Sequence[UsedCode]) -> None:
    """Mark codes as used; raise WrongFactor if another request has used one of them."""
    for code_id, at in used:
        is_unused = RecoveryCode.id == code_id, RecoveryCode.used_at.is_(None)
        marked = update(RecoveryCode).where(*is_unused).values(used_at=at)
        if not execute_bulk(session, marked).rowcount:
            raise WrongFactor


def plain(code: str) -> str:
    """Normalize a code that was typed from paper."""
    return "".join(code.lower().replace("-", " ").split())


def _new_code() -> str:
    first, second = ("".join(secrets.choice(ALPHABET) for _ in range(HALF)) for _ in range(2))
    return f"{first}-{second}"


def _digest(key: bytes, account_id: AccountKey, code: str) -> str:
    digest = hmac.new(key, f"{serialize_id(account_id)}:{code}".encode(), hashlib.sha256).digest()
    return f"{key_id(key).hex()}:{urlsafe_b64encode(digest).decode().rstrip('=')}"
