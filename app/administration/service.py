"""User management: how admins create, change and delete other accounts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select

from ..accounts.addresses import fold, read_email, read_phone
from ..accounts.errors import AccountNotFound, InvalidEmail, InvalidPhone
from ..accounts.models import PENDING, ROOT, SUSPENDED, AccountLike, Suspension, Viewer, keeps_dates
from ..accounts.service import Accounts
from ..auth.errors import NotAuthorized
from ..auth.limits import AccountUnlock
from ..auth.recovery import Recovery
from ..auth.sign_in.sign_out import SignOut
from ..core.coded_messages import DISABLED, CodedMessage
from ..core.db.transaction import AnySession, after_commit, extended_timeout, transaction
from ..core.errors import Invalid
from ..core.types import AccountKey, JsonObject
from ..registration.verification import Verification
from ..workspaces.ownership import Ownership
from .rules import OwnAccount, SoleOwner, accounts_lack, check_root_remains, may_manage_roles
from .schemas import AccountEdit
from .view import AccountView, Details

OURS = AccountEdit._declared_fields.keys()
UNTIL: Final = "suspended_until"
REASON: Final = "suspended_reason"
OWNERLESS: Final = "workspaces_without_owner"
NOT_THE_EMAIL = CodedMessage(
    "Not the email address of the account.", "invalid_format", expected="account_email"
)
ONLY_SUSPENDED = CodedMessage(
    f"Only with the status {SUSPENDED}.", "unknown_field", expected="suspended"
)
ONLY_VERIFIED = CodedMessage(
    "Not while the account has an unverified email address.", "unknown_field", expected="verified"
)
NO_SUSPENSION_DATE = accounts_lack("suspension date")


@dataclass(eq=False)
class Administration:
    """Creates, changes and deletes accounts for an administrator, the actor.

    Every change locks the account's row. Changes of roots also lock the name ROOT, so that two
    roots cannot demote each other at once.
    """

    accounts: Accounts
    ownership: Ownership
    recovery: Recovery
    view: AccountView
    account_unlock: AccountUnlock
    sign_outs: SignOut
    verification: Verification

    @property
    def session(self) -> AnySession:
        return self.accounts.session

    def find(self, actor: Viewer, account_id: AccountKey) -> AccountLike:
        """Return the account to manage, which is never the actor's own."""
        if account_id == actor.id:
            raise OwnAccount
        account = self.accounts.by_id(account_id)
        if account is None:
            raise AccountNotFound
        self._allow(actor.role, account.role)
        return account

    def create(
        self,
        actor: Viewer,
        *,
        email: str,
        password: str | None,
        role: str,
        status: str | None,
        phone: str | None,
        invite: bool,
        **own: object,
    ) -> Details:
        """Create an account; `own` are the application's columns."""
        self._allow(actor.role, role)
        email = _read("email", email, read_email)
        phone = phone and _read("phone", phone, read_phone)
        status = self._check_status(status or self.accounts.active_status)
        passwords = self.accounts.passwords
        if invite and not passwords.enabled:
            raise Invalid.about("invite", DISABLED)
        if password is not None:
            passwords.rules.check_new_password(password, email, "password")
            # Computed before the transaction, because it is slow.
            own["password_hash"] = passwords.hash(password)
        with transaction(self.session) as session:
            account = self.accounts.create(
                email, None, role=role, status=status, phone=phone, **own
            )
            if invite:
                after_commit(session, lambda: self.recovery.invite(account))
            return self.view.read(account.id)

    def change(self, actor: Viewer, account_id: AccountKey, changes: AccountEdit.Input) -> Details:
        """Change an account's role, status and suspension, and the application's columns.

        An account that is no longer active is signed out in the same transaction. The result also
        names the workspaces that it leaves without an active owner.
        """
        role, status = changes.get("role"), changes.get("status")
        own: JsonObject = {name: each for name, each in changes.items() if name not in OURS}
        with transaction(self.session) as session:
            account = self._lock(actor, account_id, *([role] if role else ()))
            ownerless: Sequence[str] = ()
            if changes:
                new_status = self._check_status(status) if status else account.status
                is_root = (role or account.role) == ROOT
                if not (is_root and new_status in self.accounts.active_statuses):
                    check_root_remains(self.accounts, account)
                self._check_not_own(actor, account)
                self.check_actor(actor, account.role, role or account.role)
                suspension = self._suspension(account, changes)
                if suspension is not None:
                    status = SUSPENDED
                if role or status or own:
                    self.accounts.change(
                        account, role=role, status=status, suspension=suspension, **own
                    )
                if status and not self.accounts.is_active(account):
                    self.accounts.end_tokens(account)
                    session.flush()
                    ownerless = self.ownership.without_owner([account_id])
                session.flush()
            return {**self.view.read(account_id), OWNERLESS: ownerless}

    def delete(self, actor: Viewer, account_id: AccountKey, email: str | None = None) -> Details:
        """Delete an account. If `email` is given, it must be the account's email address."""
        with transaction(self.session), extended_timeout(self.session):
            account = self._lock(actor, account_id)
            if email is not None and fold(email) != account.email:
                raise Invalid.about("email", NOT_THE_EMAIL)
            check_root_remains(self.accounts, account)
            self._check_not_own(actor, account)
            self.check_actor(actor, account.role)
            if workspaces := self.ownership.lock_solely_owned(account_id):
                raise SoleOwner([workspace.slug for workspace in workspaces])
            details = self.view.read(account_id)
            self.accounts.delete(account)
            return details

    def unlock(self, actor: Viewer, account_id: AccountKey) -> Details:
        """Reset the counters of wrong passwords and wrong second factors, for all IP addresses."""
        self.account_unlock.unlock(self.find(actor, account_id))
        return self.view.read(account_id)

    def sign_out(self, actor: Viewer, account_id: AccountKey) -> Details:
        self.sign_outs.by_operator(self.find(actor, account_id))
        return self.view.read(account_id)

    def recover(self, actor: Viewer, account_id: AccountKey, ip_address: str) -> None:
        """Send a recovery email, within the rate limits that protect the inbox from floods."""
        self.recovery.request(self.find(actor, account_id).email, ip_address)

    def verify(self, actor: Viewer, account_id: AccountKey) -> Details:
        """Mark the email address as verified, without an email."""
        self.verification.mark_verified(self.find(actor, account_id))
        return self.view.read(account_id)

    def lock_other(self, actor: Viewer, account_id: AccountKey) -> AccountLike:
        """Return the account to manage, locked until the end of the transaction."""
        account = self._lock(actor, account_id)
        self._check_not_own(actor, account)
        self.check_actor(actor, account.role)
        return account

    def _lock(self, actor: Viewer, account_id: AccountKey, *roles: str) -> AccountLike:
        """Lock an account until the end of the transaction, and return it as stored."""
        account = self.accounts.lock(account_id)
        if account is None:
            raise AccountNotFound
        if account.id != actor.id:
            self._allow(actor.role, account.role, *roles)
        if ROOT in (account.role, *roles):
            self.accounts.lock_roots()
        return account

    def _check_not_own(self, actor: Viewer, account: AccountLike) -> None:
        if actor.id == account.id:
            raise OwnAccount

    def check_actor(self, actor: Viewer, *roles: str) -> str:
        """Check the actor again, whose role may have changed since the decorator read it, and
        return its role."""
        model = self.accounts.model
        stored = self.session.execute(
            select(model.role, model.status).where(model.id == actor.id)
        ).one_or_none()
        if stored is None or stored.status not in self.accounts.active_statuses:
            raise NotAuthorized
        self._allow(stored.role, *roles)
        role: str = stored.role
        return role

    def _allow(self, actor: str, *roles: str) -> None:
        if not may_manage_roles(actor, *roles):
            raise NotAuthorized

    def _check_status(self, status: str) -> str:
        known = self.accounts.statuses()
        if status not in known:
            raise Invalid.about(
                "status",
                CodedMessage(f"Must be one of: {', '.join(known)}.", "not_one_of", choices=known),
            )
        return status

    def _suspension(self, account: AccountLike, changes: AccountEdit.Input) -> Suspension | None:
        """Return the suspension to store, or None if the suspension does not change."""
        if changes.get("status", account.status) != SUSPENDED:
            for name in (UNTIL, REASON):
                if changes.get(name) is not None:
                    raise Invalid.about(name, ONLY_SUSPENDED)
            return None
        if not changes.keys() & {"status", UNTIL, REASON}:
            return None
        until, reason = changes.get(UNTIL), changes.get(REASON)
        if "status" not in changes:
            until = until if UNTIL in changes else getattr(account, UNTIL, None)
            reason = reason if REASON in changes else getattr(account, REASON, None)
        if (new_until := changes.get(UNTIL)) is not None:
            self._check_until(account, new_until)
        return Suspension(until, reason)

    def check_until(self, until: datetime) -> None:
        """Raise Invalid unless a suspension can end at this time."""
        if not keeps_dates(self.accounts.model):
            raise Invalid.about(UNTIL, NO_SUSPENSION_DATE)
        if until <= self.accounts.clock.now():
            raise Invalid.about(UNTIL, CodedMessage("Must be in the future.", "in_the_past"))

    def _check_until(self, account: AccountLike, until: datetime) -> None:
        self.check_until(until)
        if account.status == PENDING:
            # The end of the suspension would activate an account with an unverified address.
            raise Invalid.about(UNTIL, ONLY_VERIFIED)


def _read(field: str, text: str, read: Callable[[str], str]) -> str:
    try:
        return read(text)
    except (InvalidEmail, InvalidPhone) as problem:
        raise Invalid.about(field, problem.message) from None
