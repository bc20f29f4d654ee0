"""Ten codes for who has lost all authenticators, each good once. They are shown when they are made,
and kept as keyed digests alone."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import delete, func, select, update

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.clock import Clock
from ...core.context import report_action
from ...core.db.account_ids import serialize_id
from ...core.db.transaction import AnySession, transaction, write_last
from ...core.types import AccountKey
from ..actions import RECOVERY_CODE_USED, RECOVERY_CODES_CREATED
from ..sign_in.options import RECOVERY_CODE
from .errors import NoFactor, WrongFactor
from .factors import SecondFactors
from .models import RecoveryCode
from .notices import FactorNotices
from .policy import hold
from .sealing import derived, id_of

HOW_MANY = 10
# Letters that cannot be mistaken for each other or for a digit.
LETTERS = "abcdefghjkmnpqrstvwxyz23456789"
HALF = 4


class UsedCode(NamedTuple):
    id: int
    at: datetime


class CodeDigests:
    """Keyed, since forty bits are soon tried out. Each names its key: an operator learns which keys
    are still needed."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [derived(key, b"frontdesk.recovery-codes") for key in keys]

    def newest(self, account_id: AccountKey, code: str) -> str:
        return _digest(self._keys[0], account_id, code)

    def all(self, account_id: AccountKey, code: str) -> list[str]:
        return [_digest(key, account_id, code) for key in self._keys]

    @property
    def current(self) -> str:
        """What the digests of the first key begin with."""
        return f"{id_of(self._keys[0]).hex()}:"


@dataclass(eq=False)
class RecoveryCodes:
    session: AnySession
    digests: CodeDigests
    notices: FactorNotices
    clock: Clock

    def make(self, account: AccountLike) -> list[str]:
        """A new set, within a transaction; the old one is dead."""
        self.forget(account.id)
        codes = [_new() for _ in range(HOW_MANY)]
        self.session.add_all(
            RecoveryCode(account_id=account.id, digest=self.digests.newest(account.id, bare(code)))
            for code in codes
        )
        self.session.flush()
        report_action(self.session, RECOVERY_CODES_CREATED, account_id=account.id)
        return codes

    def check(self, account: AccountLike, code: object) -> str | None:
        tried = self.digests.all(account.id, bare(str(code)))
        found = self.session.scalar(
            select(RecoveryCode.id).where(
                RecoveryCode.account_id == account.id,
                RecoveryCode.digest.in_(tried),
                RecoveryCode.used_at.is_(None),
            )
        )
        if found is None:
            return None
        left = self.left(account.id) - 1
        write_last(self.session, use_codes, UsedCode(found, self.clock.now()))
        report_action(self.session, RECOVERY_CODE_USED, account_id=account.id, left=left)
        self.notices.tell(self.notices.mails.recovery_code_used(account.email, left))
        return RECOVERY_CODE

    def left(self, account_id: AccountKey) -> int:
        counted = select(func.count(RecoveryCode.id)).where(
            RecoveryCode.account_id == account_id, RecoveryCode.used_at.is_(None)
        )
        return self.session.scalar(counted) or 0

    def forget(self, account_id: AccountKey) -> None:
        self.session.execute(
            delete(RecoveryCode)
            .where(RecoveryCode.account_id == account_id)
            .execution_options(synchronize_session=False)
        )


def use_codes(session: AnySession, used: Sequence[UsedCode]) -> None:
    for each in used:
        result: Any = session.execute(
            update(RecoveryCode)
            .where(RecoveryCode.id == each.id, RecoveryCode.used_at.is_(None))
            .values(used_at=each.at)
            .execution_options(synchronize_session=False)
        )
        if not result.rowcount:
            raise WrongFactor


def bare(code: str) -> str:
    """Normalize a code that was typed from paper."""
    return "".join(code.lower().replace("-", " ").split())


def _new() -> str:
    first, second = ("".join(secrets.choice(LETTERS) for _ in range(HALF)) for _ in range(2))
    return f"{first}-{second}"


def _digest(key: bytes, account_id: AccountKey, code: str) -> str:
    digest = hmac.new(key, f"{serialize_id(account_id)}:{code}".encode(), hashlib.sha256).digest()
    return f"{id_of(key).hex()}:{urlsafe_b64encode(digest).decode().rstrip('=')}"


@dataclass(eq=False)
class CodeRenewal:
    """New recovery codes, for who has a factor that they recover."""

    session: AnySession
    accounts: Accounts
    second_factors: SecondFactors
    recovery_codes: RecoveryCodes
    notices: FactorNotices

    def renew(self, account: AccountLike) -> Sequence[str]:
        with transaction(self.session):
            account = hold(self.accounts, account)
            if not self.second_factors.methods(account.id):
                raise NoFactor
            codes = self.recovery_codes.make(account)
            self.notices.tell(self.notices.mails.recovery_codes_made(account.email))
            return codes
