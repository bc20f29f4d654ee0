"""Re-encryption with a new key: afterwards operators can remove the older keys."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import func, select, update

from ...core.db.transaction import AnySession, execute_bulk, transaction
from ...core.types import AccountKey
from .app_codes import AuthenticatorApps
from .errors import SecretUnreadable
from .models import Authenticator, RecoveryCode
from .recovery_codes import CodeDigests

BATCH = 500


@dataclass
class ReencryptionResult:
    """Counts of a re-encryption."""

    reencrypted: int = 0
    # The log names them.
    unreadable: int = 0
    # Digests cannot be recomputed without the codes: the key is needed until they are renewed.
    accounts_with_old_recovery_codes: int = 0


@dataclass(eq=False)
class Reencryption:
    session: AnySession
    apps: AuthenticatorApps
    digests: CodeDigests

    def count(self) -> int:
        secrets = select(func.count(Authenticator.id)).where(Authenticator.secret.is_not(None))
        return self.session.scalar(secrets) or 0

    def run(
        self, advance: Callable[[int], None] = lambda _count: None, batch: int = BATCH
    ) -> ReencryptionResult:
        """Re-encrypt in batches, each in a transaction: an interrupted run can be repeated."""
        result, after = ReencryptionResult(), 0
        while True:
            with transaction(self.session) as session:
                rows = session.execute(
                    select(Authenticator.id, Authenticator.account_id, Authenticator.secret)
                    .where(Authenticator.id > after, Authenticator.secret.is_not(None))
                    .order_by(Authenticator.id)
                    .limit(batch)
                ).all()
                for row in rows:
                    after = row.id
                    self._reencrypt(row.id, row.account_id, row.secret, result)
            advance(len(rows))
            if len(rows) < batch:
                result.accounts_with_old_recovery_codes = self._accounts_with_old_codes()
                return result

    def _reencrypt(
        self, row_id: int, account_id: AccountKey, sealed: str, result: ReencryptionResult
    ) -> None:
        if self.apps.sealing.is_current(sealed):
            return
        try:
            secret = self.apps.open(sealed, account_id, row_id)
        except SecretUnreadable:
            result.unreadable += 1
            return
        unchanged = (Authenticator.id == row_id, Authenticator.secret == sealed)
        renewed = self.apps.seal(secret, account_id, row_id)
        execute_bulk(self.session, update(Authenticator).where(*unchanged).values(secret=renewed))
        result.reencrypted += 1

    def _accounts_with_old_codes(self) -> int:
        accounts = select(func.count(RecoveryCode.account_id.distinct())).where(
            RecoveryCode.used_at.is_(None),
            RecoveryCode.digest.not_like(f"{self.digests.current_prefix}%"),
        )
        return self.session.scalar(accounts) or 0
