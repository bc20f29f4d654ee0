from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

from sqlalchemy import func, or_, select, update

from ...accounts.models import AccountLike
from ...accounts.rows import to_read
from ...accounts.service import Accounts, next_valid_from
from ...core.clock import LEEWAY, Clock
from ...core.context import report_action
from ...core.db.transaction import AnySession, execute_bulk, transaction
from ..actions import LOGOUT_SUCCEEDED, TOKENS_ENDED
from ..caller import Caller
from ..tokens.access import Revocations

ROWS_AT_ONCE = 5_000


@dataclass(eq=False)
class SignOut:
    session: AnySession
    accounts: Accounts
    revocations: Revocations
    clock: Clock
    _: KW_ONLY
    is_final: bool

    def everywhere(self, caller: Caller) -> None:
        self.account(caller.attached_account, caller.expires_at or 0.0)

    def account(self, account: AccountLike, token_expires: float = 0.0) -> None:
        """Sign an account out until it signs in again: each request reads the account's row."""
        with transaction(self.session) as session:
            now = self.clock.now()
            account.logged_out_at = now
            seconds = token_expires - now.timestamp()
            self.revocations.store(session, account.email, account.id, seconds)
            if self.is_final:
                self.accounts.end_tokens(account)
            report_action(session, LOGOUT_SUCCEEDED, account, account_id=account.id)

    def by_operator(self, account: AccountLike) -> None:
        """Revoke an account's tokens; the account may sign in again at once."""
        with transaction(self.session) as session:
            self.accounts.end_tokens(account)
            report_action(session, TOKENS_ENDED, account, account_id=account.id)

    def everybody(self) -> int:
        """Revoke the tokens of all accounts, without signals; return the number of accounts."""
        accounts = sum(self._end_all())
        with transaction(self.session) as session:
            report_action(session, TOKENS_ENDED, accounts=accounts)
        return accounts

    def _end_all(self) -> Iterator[int]:
        """Yield the number of changed accounts of each batch. Each batch is a transaction: sign-ins
        do not wait for millions of rows, and an interrupted run can be repeated."""
        now, model = self.clock.now(), self.accounts.model
        since = to_read(model, "tokens_valid_from")
        with transaction(self.session) as session:
            # A machine with a fast clock may have revoked the tokens of some accounts just now.
            last = session.scalar(select(func.max(since)).where(since < now + 3 * LEEWAY))
        moment = next_valid_from(now, last)
        others = select(model.id).where(or_(since.is_(None), since < moment)).limit(ROWS_AT_ONCE)
        while True:
            with transaction(self.session) as session:
                changed = update(model).where(model.id.in_(others))
                count = execute_bulk(session, changed.values(tokens_valid_from=moment)).rowcount
            if not count:
                return
            yield count
