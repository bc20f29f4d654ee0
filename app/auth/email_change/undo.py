"""Undo of an email change, by a token that is sent to the old email address."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.context import BasicService, report_action
from ...core.db.transaction import after_commit, transaction
from ..actions import EMAIL_CHANGE_UNDONE
from ..errors import InvalidProof
from ..recovery import Recovery
from .models import EmailChange
from .proofs import EmailChangeProofs
from .service import forget_changes, free_email


class EmailUndoStep(NamedTuple):
    """Of another package: undoes what was requested since the change, within the transaction."""

    undo: Callable[[AccountLike], object]


@dataclass(eq=False)
class EmailChangeUndo(BasicService):
    accounts: Accounts
    proofs: EmailChangeProofs
    recovery: Recovery
    find_undo_steps: Callable[[], Sequence[EmailUndoStep]]

    def undo(self, token: str) -> None:
        """Restore the old address, even after later changes. The person who changed it may know the
        password or have linked an identity: both are removed."""
        change = self.proofs.find_undoable(token)
        with transaction(self.session) as session:
            account = self.accounts.lock(change.account_id)
            stored = session.get(EmailChange, change.id, populate_existing=True)
            if account is None or stored is None:
                raise InvalidProof
            # Later changes are deleted too: an attacker could use their tokens.
            forget_changes(
                session, EmailChange.account_id == account.id, EmailChange.id >= stored.id
            )
            if account.email != stored.old_email:
                free_email(session, self.accounts, stored.old_email)
                self.accounts.change(account, email=stored.old_email)
            self.accounts.reclaim(account, since=stored.requested_at)
            for step in self.find_undo_steps():
                step.undo(account)
            report_action(session, EMAIL_CHANGE_UNDONE, account_id=account.id)
            after_commit(session, lambda: self.recovery.begin(account))
