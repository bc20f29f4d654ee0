"""Re-encryption after a new key: afterwards the older keys can be removed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select, update

from ...core.db.transaction import AnySession, transaction
from .apps import AuthenticatorApps
from .errors import SecretUnreadable
from .models import Authenticator, RecoveryCode
from .recovery_codes import CodeDigests

BATCH = 500


@dataclass
class ReencryptionResult:
    """How many."""

    reencrypted: int = 0
    # The log says which.
    unreadable: int = 0
    # Digests cannot be recomputed without the code: their key stays until the codes are renewed.
    accounts_with_old_recovery_codes: int = 0


@dataclass(eq=False)
class Reencryption:
    session: AnySession
    apps: AuthenticatorApps
    digests: CodeDigests

    def run(self, batch: int = BATCH) -> ReencryptionResult:
        """Some hundreds at a time, each stored by itself: it may break off anywhere, and be begun
        again."""
        report, after = ReencryptionResult(), 0
        while True:
            with transaction(self.session):
                rows = self.session.execute(
                    select(Authenticator.id, Authenticator.account_id, Authenticator.secret)
                    .where(Authenticator.id > after, Authenticator.secret.is_not(None))
                    .order_by(Authenticator.id)
                    .limit(batch)
                ).all()
                for row in rows:
                    after = row.id
                    self._renew(row.id, row.account_id, row.secret, report)
            if len(rows) < batch:
                report.accounts_with_old_recovery_codes = self._old_codes()
                return report

    def _renew(
        self, row_id: int, account_id: object, sealed: str, report: ReencryptionResult
    ) -> None:
        if self.apps.sealing.is_current(sealed):
            return
        try:
            secret = self.apps.open(sealed, account_id, row_id)
        except SecretUnreadable:
            report.unreadable += 1
            return
        self.session.execute(
            update(Authenticator)
            .where(Authenticator.id == row_id, Authenticator.secret == sealed)
            .values(secret=self.apps.seal(secret, account_id, row_id))
            .execution_options(synchronize_session=False)
        )
        report.reencrypted += 1

    def _old_codes(self) -> int:
        counted = select(func.count(RecoveryCode.account_id.distinct())).where(
            RecoveryCode.used_at.is_(None),
            RecoveryCode.digest.not_like(f"{self.digests.current}%"),
        )
        return self.session.scalar(counted) or 0
