"""Emailed tokens for a change of email address: one confirms the change, one undoes it."""

from dataclasses import dataclass

from sqlalchemy import select

from ...accounts.addresses import fold
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.db.account_ids import serialize_id
from ...core.db.transaction import AnySession
from ..errors import InvalidProof
from ..proofs import IssuedProof, Proofs, ProofSubject, Purpose, account_subject, is_code
from .models import EmailChange

KIND = "email-change"


@dataclass(eq=False)
class EmailChangeProofs:
    session: AnySession
    accounts: Accounts
    proofs: Proofs
    confirming: Purpose
    undoing: Purpose

    def issue(self, change: EmailChange, account: AccountLike) -> IssuedProof:
        """Return the token and code for the new address."""
        return self.proofs.issue(self.confirming, pending(change, account))

    def undo_token(self, change: EmailChange) -> str:
        return self.proofs.token(self.undoing, _undoable(change))

    def find(self, token: str, email: str | None, caller_id: object) -> EmailChange:
        """Return the pending change; raise InvalidProof. A code requires the new address, and a
        signed-in caller can confirm only a change of their account."""
        if is_code(token):
            change = self._newest(fold(email or ""), caller_id)
            subject = self._pending(change.id) if change is not None else None
            if subject is None:
                raise InvalidProof
            return self.proofs.by_code(self.confirming, subject, token)
        change = self.proofs.by_token(self.confirming, KIND, token, self._pending)
        if email is not None and fold(email) != change.new_email:
            raise InvalidProof
        if caller_id is not None and change.account_id != caller_id:
            raise InvalidProof
        return change

    def find_undoable(self, token: str) -> EmailChange:
        return self.proofs.by_token(self.undoing, KIND, token, self._undoable)

    def _newest(self, email: str, caller_id: object) -> EmailChange | None:
        which = select(EmailChange).where(
            EmailChange.new_email == email, EmailChange.confirmed_at.is_(None)
        )
        if caller_id is not None:
            which = which.where(EmailChange.account_id == caller_id)
        return self.session.scalar(which.order_by(EmailChange.id.desc()).limit(1))

    def _pending(self, change_id: object) -> ProofSubject[EmailChange] | None:
        change = self.session.get(EmailChange, change_id)
        if change is None or change.confirmed_at is not None:
            return None
        account = self.accounts.by_id(change.account_id)
        return None if account is None else pending(change, account)

    def _undoable(self, change_id: object) -> ProofSubject[EmailChange] | None:
        change = self.session.get(EmailChange, change_id)
        return None if change is None or not change.is_undoable else _undoable(change)


def pending(change: EmailChange, account: AccountLike) -> ProofSubject[EmailChange]:
    """Return the subject of a pending change. A revocation of tokens, or a change of password or
    email address, ends the proof."""
    state = (*account_subject(account).state, serialize_id(account.id), change.new_email)
    return ProofSubject(KIND, change.id, state, change)


def _undoable(change: EmailChange) -> ProofSubject[EmailChange]:
    """Return the subject of an undo. The token ends only by its use or expiry, whatever happens to
    the account."""
    state = (serialize_id(change.account_id), change.old_email, change.new_email)
    return ProofSubject(KIND, change.id, state, change)
