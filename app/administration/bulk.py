"""Changes of many accounts at once: one statement for all, and an audit log entry for each."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm.attributes import set_committed_value

from ..accounts.actions import ACCOUNT_UPDATED
from ..accounts.models import DELETING, PENDING, ROOT, SUSPENDED, AccountLike, Suspension
from ..accounts.service import Accounts, next_valid_from, state_of
from ..auth.actions import TOKENS_ENDED
from ..core.context import report_action
from ..core.db.transaction import AnySession, execute_bulk, lock_name, transaction
from ..core.types import AccountKey
from ..workspaces.members import Members
from ..workspaces.models import Workspace
from .rules import may_manage_roles
from .service import Administration

# Larger selections are rejected: a transaction keeps the accounts locked.
MAX_ACCOUNTS = 1_000
# Why a bulk change skips an account.
OWN, ROLE, IS_SUSPENDED, IS_ACTIVE = "own", "role", "suspended", "active"
IS_DELETING, IS_PENDING, IS_MEMBER = "deleting", "pending", "member"

# Returns the reason why the change skips an account, or None.
FindReason = Callable[[AccountLike], str | None]


class Selection(NamedTuple):
    """The selected accounts that a change includes, and the skipped accounts with the reason."""

    included: list[AccountLike]
    skipped: list[tuple[AccountLike, str]]
    # The slugs of the workspaces that a suspension leaves without an active owner.
    ownerless: Sequence[str] = ()
    # The accounts that a suspension changed and that were active before.
    formerly_active: Sequence[AccountKey] = ()


@dataclass(eq=False)
class BulkAdministration:
    """Changes the selected accounts, and skips accounts that the actor may not change.

    Root accounts are always skipped: they are changed one at a time, so that one remains.
    """

    accounts: Accounts
    administration: Administration
    members: Members

    @property
    def session(self) -> AnySession:
        return self.accounts.session

    def preview(
        self, actor: AccountLike, ids: Collection[AccountKey], action: str = ""
    ) -> Selection:
        """Return what a change would include and skip."""
        reasons = {
            "suspend": self._reason_against_suspension(Suspension()),
            "reactivate": self._reason_against_reactivation,
        }
        return self._select(actor.id, actor.role, ids, reasons.get(action, _no_reason))

    def suspend(
        self, actor: AccountLike, ids: Collection[AccountKey], suspension: Suspension
    ) -> Selection:
        """Suspend the accounts and revoke their tokens."""
        if suspension.until is not None:
            self.administration.check_until(suspension.until)
        with transaction(self.session):
            selection = self._lock(actor, ids, self._reason_against_suspension(suspension))
            before = {account.id: account.status for account in selection.included}
            active = [each.id for each in selection.included if self.accounts.is_active(each)]
            changed = ["status", *(["suspended_until"] if suspension.until else [])]
            self._end_tokens(
                selection.included,
                status=SUSPENDED,
                suspended_until=suspension.until,
                suspended_reason=suspension.reason,
            )
            self._report(before, SUSPENDED, changed)
            ownerless = self.administration.ownership.without_owner([*before])
            return selection._replace(ownerless=ownerless, formerly_active=active)

    def reactivate(self, actor: AccountLike, ids: Collection[AccountKey]) -> Selection:
        """Set the active status, which ends suspensions."""
        status = self.accounts.active_status
        with transaction(self.session):
            selection = self._lock(actor, ids, self._reason_against_reactivation)
            before = {account.id: account.status for account in selection.included}
            self._update(
                selection.included, status=status, suspended_until=None, suspended_reason=None
            )
            self._report(before, status, ["status"])
            return selection

    def _report(self, before: Mapping[AccountKey, str], status: str, changed: list[str]) -> None:
        for account_id, former in before.items():
            report_action(
                self.session,
                ACCOUNT_UPDATED,
                account_id=account_id,
                changed=changed,
                before={"status": former},
                after={"status": status},
            )

    def sign_out(self, actor: AccountLike, ids: Collection[AccountKey]) -> Selection:
        """Revoke all tokens of the accounts."""
        with transaction(self.session) as session:
            selection = self._lock(actor, ids, _no_reason)
            self._end_tokens(selection.included)
            for account in selection.included:
                report_action(session, TOKENS_ENDED, account, account_id=account.id)
            return selection

    def add_to_workspace(
        self,
        actor: AccountLike,
        ids: Collection[AccountKey],
        workspace: Workspace,
        member_type: str,
    ) -> Selection:
        """Add the accounts to a workspace; members keep their role."""
        with transaction(self.session):
            self.members.lock(workspace.id)
            present = self.members.find_ids(workspace.id, ids)
            selection = self._lock(
                actor, ids, lambda account: IS_MEMBER if account.id in present else None
            )
            self.members.insert_all(workspace.id, selection.included, member_type)
            return selection

    def _lock(
        self, actor: AccountLike, ids: Collection[AccountKey], find_reason: FindReason
    ) -> Selection:
        """Lock the accounts until the end of the transaction, and select those to change."""
        # One bulk change at a time, so that two of them cannot wait for each other.
        lock_name(self.session, self.accounts.model, "bulk")
        role = self.administration.check_actor(actor, "user")
        return self._select(actor.id, role, ids, find_reason, locks=True)

    def _select(
        self,
        actor_id: AccountKey,
        role: str,
        ids: Collection[AccountKey],
        find_reason: FindReason,
        *,
        locks: bool = False,
    ) -> Selection:
        model = self.accounts.model
        query = select(model).where(model.id.in_(ids)).order_by(model.id)
        if locks:
            query = query.with_for_update(key_share=True, of=model)
        found = self.session.scalars(query.execution_options(populate_existing=True))
        selection = Selection([], [])
        for account in found:
            reason = _reason_of_rules(actor_id, role, account) or find_reason(account)
            if reason is None:
                selection.included.append(account)
            else:
                selection.skipped.append((account, reason))
        return selection

    def _reason_against_suspension(self, suspension: Suspension) -> FindReason:
        def find_reason(account: AccountLike) -> str | None:
            if account.status == SUSPENDED and not self.accounts.is_active(account):
                return IS_SUSPENDED
            if account.status == DELETING:
                return IS_DELETING
            # The end of the suspension would activate an account with an unverified address.
            is_pending = account.status == PENDING and suspension.until is not None
            return IS_PENDING if is_pending else None

        return find_reason

    def _reason_against_reactivation(self, account: AccountLike) -> str | None:
        if account.status in (DELETING, PENDING):
            return IS_DELETING if account.status == DELETING else IS_PENDING
        return IS_ACTIVE if self.accounts.is_active(account) else None

    def _end_tokens(self, accounts: Iterable[AccountLike], **values: object) -> None:
        """Update the accounts, with one statement unless some tokens were revoked just now."""
        now = self.accounts.clock.now()
        by_moment: dict[datetime, list[AccountLike]] = defaultdict(list)
        for account in accounts:
            former = state_of(account).tokens_valid_from
            by_moment[next_valid_from(now, former)].append(account)
        for moment, some in by_moment.items():
            self._update(some, tokens_valid_from=moment, **values)

    def _update(self, accounts: Iterable[AccountLike], **values: object) -> None:
        model = self.accounts.model
        values = {
            name: each for name, each in values.items() if getattr(model, name, None) is not None
        }
        ids = [account.id for account in accounts]
        if ids:
            execute_bulk(self.session, update(model).where(model.id.in_(ids)).values(values))
        for account in accounts:
            for name, value in values.items():
                set_committed_value(account, name, value)


def _no_reason(_account: AccountLike) -> str | None:
    return None


def _reason_of_rules(actor_id: AccountKey, role: str, account: AccountLike) -> str | None:
    if account.id == actor_id:
        return OWN
    is_allowed = account.role != ROOT and may_manage_roles(role, account.role)
    return None if is_allowed else ROLE
