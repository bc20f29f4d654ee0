"""The emails of a change of address, to the new address and to the old one."""

from __future__ import annotations

from dataclasses import dataclass

from ...accounts.models import AccountLike
from ...delivery.mail.one_off import OwnerMail
from ..mails import Mails
from .models import EmailChange
from .proofs import EmailChangeProofs


@dataclass(eq=False)
class EmailChangeNotices:
    proofs: EmailChangeProofs
    mails: Mails
    owner_mail: OwnerMail

    def ask(
        self, change: EmailChange, account: AccountLike, is_taken: bool, may_mail: bool
    ) -> None:
        issued = self.proofs.issue(change, account)
        proof = self.mails.confirm_email(change.new_email, issued)
        taken = self.mails.email_in_use(change.new_email)
        if may_mail:
            self.owner_mail.send_soon(taken if is_taken else proof)
        self.tell_old_address(change)

    def tell_old_address(self, change: EmailChange) -> None:
        if change.is_undoable:
            token = self.proofs.undo_token(change)
            is_made = change.confirmed_at is not None
            notice = self.mails.email_change(change.old_email, change.new_email, token, is_made)
            self.owner_mail.send_soon(notice)
