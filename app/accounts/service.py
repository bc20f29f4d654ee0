from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, NamedTuple, cast

from sqlalchemy import Column, ColumnElement, delete, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.visitors import iterate
from typing_extensions import TypeVar

from ..core.clock import Clock
from ..core.context import Reclaimer, report_action
from ..core.db.transaction import AnySession, load_locked, lock_loaded, note_locked, transaction
from ..core.types import AccountModel
from .actions import (
    ACCOUNT_CREATED,
    ACCOUNT_DELETED,
    ACCOUNT_REGISTERED,
    ACCOUNT_UPDATED,
    ACCOUNT_VERIFIED,
    EMAIL_CHANGE_COMPLETED,
    PASSWORD_REMOVED,
)
from .addresses import fold, read_email, read_phone
from .errors import AccountNotFound, EmailTaken
from .models import (
    PENDING,
    STATUSES,
    VERIFIED_STATE,
    AccountLike,
    Suspension,
    is_over,
    is_over_row,
    set_suspension,
)
from .passwords import Passwords, check_password
from .rows import AccountRows

PAGE = 500

# What the host's own code gets is of the host's own class; ours asks no more than `AccountLike`.
A = TypeVar("A", default=AccountLike)


class SignInState(NamedTuple):
    """What a sign-in relies on: when it changes, sign-ins from before end."""

    password_hash: str | None
    tokens_valid_from: datetime | None


def state_of(account: AccountLike) -> SignInState:
    moment: datetime | None = account.tokens_valid_from
    if moment is not None and moment.tzinfo is None:
        # An application's own column may store no offset.
        moment = moment.replace(tzinfo=UTC)
    return SignInState(account.password_hash, moment)


class Accounts(Generic[A]):
    """Makes, finds, changes and deletes accounts, of whichever model the host has."""

    def __init__(
        self,
        session: AnySession,
        model: AccountModel,
        passwords: Passwords,
        clock: Clock,
        active_statuses: Collection[str],
        reclaimers: Sequence[Reclaimer] = (),
        revokes_tokens_of_inactive: bool = False,
    ) -> None:
        self.session = session
        self.model = model
        self.passwords = passwords
        self.clock = clock
        self.active_statuses = frozenset(active_statuses)
        # What an account becomes that was made by its owner.
        self.active_status = next(iter(active_statuses))
        self.reclaimers = reclaimers
        # Whether an inactive status revokes tokens for good, or only while it lasts.
        self.revokes_tokens_of_inactive = revokes_tokens_of_inactive
        self.rows = AccountRows(session, model, clock, self.active_status)
        # As the database calls what no two accounts may share.
        self._email_columns = {
            each.name for each in iterate(select(model.email)) if isinstance(each, Column)
        }

    def find(self, email: str) -> A | None:
        found: A | None = self.session.scalar(
            select(self.model).where(self.model.email == fold(email))
        )
        return found

    def by_id(self, account_id: object) -> A | None:
        found: A | None = self.session.get(self.model, account_id)
        return found

    def lock(self, account_id: object) -> A | None:
        """The account as it is stored now, locked until the end of the transaction; None where it
        does not exist."""
        found: A | None = load_locked(self.session, self.model, account_id)
        return found

    def is_active(self, account: AccountLike) -> bool:
        return account.status in self.active_statuses or is_over(account, self.clock.now())

    def is_active_row(self) -> ColumnElement[bool]:
        """As `is_active`, for a statement."""
        is_over = is_over_row(self.model, self.clock.now())
        return or_(self.model.status.in_(self.active_statuses), is_over)

    def reinstate(self, account: AccountLike) -> None:
        """Write down that a suspension is over, where it is."""
        if is_over(account, self.clock.now()):
            self._record_change(account, {"status": self.active_status})
            account.status = self.active_status
            set_suspension(account, Suspension())

    def statuses(self) -> list[str]:
        """Those that an operator may give; to wait for a proof of the address is none of them. A
        mistyped one would lock its owner out."""
        return sorted({*STATUSES, *self.active_statuses})

    def is_email_verified(self, account: AccountLike) -> bool:
        """Whether the email address of the account is verified."""
        return getattr(account, "email_unverified_since", None) is None

    def verify_email_of(self, account: AccountLike) -> None:
        """Somebody has shown that they read its mail. An account that waited for this is active
        from here on, and told to `account-registered` now."""
        model = self.model
        proven = self.session.execute(
            update(model)
            .where(model.id == account.id, model.email_unverified_since.is_not(None))
            .values(email_unverified_since=None)
            .returning(model.status)
            .execution_options(synchronize_session=False)
        ).one_or_none()
        self.session.refresh(account)
        # Of several at once one has proven it.
        if proven is not None:
            report_action(self.session, ACCOUNT_VERIFIED, account_id=account.id)
        if proven is not None and proven.status == PENDING:
            account.status = self.active_status
            self.session.flush()
            report_action(self.session, ACCOUNT_REGISTERED, account)

    def reclaim(self, account: AccountLike, since: datetime | None = None) -> None:
        """Whose address it is has come: what somebody else may have set up in their name, before
        anybody had proven to read its mail, opens nothing any more. `since`: not before then, for
        until that moment its owner had it."""
        account.password_hash = None
        self.end_tokens(account)
        for remove in self.reclaimers:
            remove(self.session, account, since)
        report_action(self.session, PASSWORD_REMOVED, account_id=account.id)
        self.session.flush()
        if not self.is_email_verified(account):
            self.verify_email_of(account)

    def get(self, email: str) -> A:
        account = self.find(email)
        if account is None:
            raise AccountNotFound
        return account

    def all(self) -> Iterator[A]:
        """Every account, read some hundreds at a time: there may be millions."""
        in_order = select(self.model).order_by(self.model.id).limit(PAGE)
        further = in_order
        while page := self.session.scalars(further).all():
            yield from page
            further = in_order.where(self.model.id > page[-1].id)
            self.session.expunge_all()

    def create(
        self,
        email: str,
        password: str | None,
        *,
        role: str = "user",
        status: str = "active",
        phone: str | None = None,
        **more: object,
    ) -> A:
        """A new account, told to `account-registered` in the same transaction, or once its address
        is proven where it waits for that."""
        email = read_email(email)
        if password is not None:
            more["password_hash"] = self._hash(password, email)
        with transaction(self.session, may_fail=True):
            account: Any = self.model(
                email=email,
                role=role,
                status=status,
                phone=read_phone(phone) if phone else None,
                created_at=self.clock.now(),
                **more,
            )
            self.session.add(account)
            self._flush_email()
            note_locked(self.session, account)
            after = {"role": role, "status": status}
            report_action(self.session, ACCOUNT_CREATED, account_id=account.id, after=after)
            if status != PENDING:
                report_action(self.session, ACCOUNT_REGISTERED, account)
            return cast(A, account)

    def change(
        self,
        account: A,
        *,
        email: str | None = None,
        password: str | None = None,
        role: str | None = None,
        status: str | None = None,
        phone: str | None = None,
        suspension: Suspension | None = None,
    ) -> A:
        """Change what is given. A new e-mail or password ends every token from before; a
        suspension goes with the status, and one that is not told ends with it."""
        held = cast(AccountLike, account)
        password_hash = self._hash(password, email or held.email) if password else None
        given = {"email": email, "password": password, "role": role, "status": status}
        if suspension is not None and suspension.until is not None:
            given["suspended_until"] = suspension.until.isoformat()
        with transaction(self.session, may_fail=True):
            self._record_change(held, {**given, "phone": phone})
            is_moved = email is not None and read_email(email) != held.email
            if email is not None and is_moved:
                held.email = read_email(email)
                self.end_tokens(held)
            if password_hash is not None:
                held.password_hash = password_hash
                self.end_tokens(held)
            if role is not None:
                held.role = role
            if status is not None:
                held.status = status
                set_suspension(held, suspension or Suspension())
                if self.revokes_tokens_of_inactive and status not in self.active_statuses:
                    self.end_tokens(held)
            if phone is not None:
                held.phone = read_phone(phone) if phone else None
            self._flush_email()
            if is_moved:
                report_action(self.session, EMAIL_CHANGE_COMPLETED, held)
            return account

    def _record_change(self, account: AccountLike, given: Mapping[str, str | None]) -> None:
        """Record the former and the new role and status, and only the names of other fields."""
        names = [name for name, value in given.items() if value is not None]
        shown = [name for name in ("role", "status") if given.get(name) is not None]
        report_action(
            self.session,
            ACCOUNT_UPDATED,
            account_id=account.id,
            changed=names,
            before={name: getattr(account, name) for name in shown},
            after={name: given[name] for name in shown},
        )

    def delete(self, account: A) -> None:
        """Delete the account. Listeners of `account-deleted` run before its rows are deleted."""
        held = cast(AccountLike, account)
        with transaction(self.session):
            report_action(self.session, ACCOUNT_DELETED, held, account_id=held.id)
            self.session.execute(delete(self.model).where(self.model.id == held.id))

    def end_tokens(self, account: AccountLike) -> None:
        """From now on, only tokens that are issued later count. The row is locked first, so that a
        sign-in that overlaps is either refused or older than this moment."""
        lock_loaded(self.session, account)
        account.tokens_valid_from = self.clock.now()
        # Host code that changes the object itself may sign it in afterwards.
        vars(account).pop(VERIFIED_STATE, None)

    def _hash(self, password: str, email: str) -> str:
        check_password(password, email)
        return self.passwords.hash(password)

    def _flush_email(self) -> None:
        """Two at once cannot take one address: the second meets the unique index."""
        try:
            self.session.flush()
        except IntegrityError as error:
            if any(name in str(error.orig) for name in self._email_columns):
                raise EmailTaken from None
            raise


def lock_if_password_unchanged(
    accounts: Accounts, account_id: object, password_hash: str | None
) -> AccountLike | None:
    """Where this hash still stands: of two that would exchange it at once, the second finds it
    gone."""
    account = accounts.lock(account_id)
    return account if account is not None and account.password_hash == password_hash else None
