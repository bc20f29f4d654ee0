from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, NamedTuple, cast

from sqlalchemy import ColumnElement, and_, delete, inspect, or_, select, update
from sqlalchemy.exc import IntegrityError
from typing_extensions import TypeVar

from ..core.clock import LEEWAY, Clock
from ..core.coded_messages import REQUIRED, CodedMessage
from ..core.context import report_action
from ..core.db.sqlstates import empty_column, taken_columns
from ..core.db.transaction import (
    AnySession,
    load_locked,
    lock_loaded,
    lock_name,
    note_locked,
    transaction,
)
from ..core.errors import Conflict, Fault, Invalid
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
from .errors import AccountNotFound, EmailTaken, MissingValue
from .models import (
    PENDING,
    ROOT,
    STATUSES,
    SUSPENDED,
    VERIFIED_STATE,
    AccountLike,
    Suspension,
    is_over,
    is_over_row,
    set_suspension,
)
from .own_columns import columns_behind, frontdesk_names
from .passwords import Passwords, check_password
from .rows import AccountRows, to_read
from .settings import AccountSettings

PAGE = 500
TAKEN = CodedMessage("Another account has this value.", "taken", expected="account")

# Application code gets its own account class; Frontdesk's code requires only `AccountLike`.
A = TypeVar("A", default=AccountLike)


class SignInState(NamedTuple):
    """The state that a sign-in depends on: a change ends earlier sign-ins."""

    password_hash: str | None
    tokens_valid_from: datetime | None


def state_of(account: AccountLike) -> SignInState:
    moment = account.tokens_valid_from
    if moment is not None and moment.tzinfo is None:
        # An application's own column may store no offset.
        moment = moment.replace(tzinfo=UTC)
    return SignInState(account.password_hash, moment)


def next_valid_from(now: datetime, *former: datetime | None) -> datetime:
    """Return the `tokens_valid_from` of a revocation: later than each former one, and than every
    token that a machine with a fast clock has issued."""
    later = [moment + timedelta(milliseconds=1) for moment in former if moment is not None]
    return max([now + LEEWAY, *later])


class Reclaimer(NamedTuple):
    """Called when the owner of an email address reclaims an account that someone else created."""

    # Removes the credentials that were set up since a time, or all of them.
    remove: Callable[[AnySession, AccountLike, datetime | None], object]


class Accounts(Generic[A]):
    """Creates, finds, changes and deletes accounts of the application's model.

    Example::

        with frontdesk.transaction():
            account = frontdesk.accounts.create("ada@example.com", None)
            frontdesk.accounts.change(account, role="admin")
    """

    def __init__(
        self,
        session: AnySession,
        model: AccountModel,
        passwords: Passwords,
        clock: Clock,
        settings: AccountSettings,
        reclaimers: Sequence[Reclaimer] = (),
    ) -> None:
        self.session = session
        self.model = model
        self.passwords = passwords
        self.clock = clock
        self.active_statuses = frozenset(settings.ACTIVE_STATUSES)
        self.roles = settings.ROLES
        # The status of an account that its owner registered.
        self.active_status = settings.ACTIVE_STATUSES[0]
        self.reclaimers = reclaimers
        # Whether an inactive status revokes tokens for good, or only while it lasts: sessions must
        # end when their account becomes inactive.
        self.revokes_tokens_of_inactive = settings.keeps_sessions
        self.rows = AccountRows(session, model, clock, self.active_status)
        # The column names in the error of the unique index.
        self._email_columns = columns_behind(model, "email")

    def find(self, email: str) -> A | None:
        """Find an account by its email address.

        Args:
            email: Email address, in any case.

        Returns:
            The account, or None if no account has this email address.

        Example::

            account = frontdesk.accounts.find("ada@example.com")
        """
        found: A | None = self.session.scalar(
            select(self.model).where(self.model.email == fold(email))
        )
        return found

    def by_id(self, account_id: object) -> A | None:
        """Find an account by its id.

        Args:
            account_id: The id, with the type of the model's primary key.

        Returns:
            The account, or None if no account has this id.

        Example::

            account = frontdesk.accounts.by_id(7)
        """
        found: A | None = self.session.get(self.model, account_id)
        return found

    def lock(self, account_id: object) -> A | None:
        """Return the account, read again and locked until the end of the transaction, or None if
        it does not exist."""
        found: A | None = load_locked(self.session, self.model, account_id)
        return found

    def is_active(self, account: A) -> bool:
        """Return whether an account can sign in.

        Args:
            account: The account.

        Returns:
            Whether the status is one of `AUTH.ACTIVE_STATUSES`, or a suspension has expired.

        Example::

            if not frontdesk.accounts.is_active(account):
                abort(403)
        """
        stored = cast(AccountLike, account)
        return stored.status in self.active_statuses or is_over(stored, self.clock.now())

    def is_active_row(self) -> ColumnElement[bool]:
        """Return the condition of `is_active` for a query."""
        is_over = is_over_row(self.model, self.clock.now())
        return or_(self.model.status.in_(self.active_statuses), is_over)

    def has_status_row(self, status: str) -> ColumnElement[bool]:
        """Return the condition for a shown status: an expired suspension is shown as active."""
        is_over, has_status = is_over_row(self.model, self.clock.now()), self.model.status == status
        if status == self.active_status:
            return or_(has_status, is_over)
        return and_(has_status, ~is_over) if status == SUSPENDED else has_status

    def reinstate(self, account: AccountLike) -> None:
        """Restore the status of an account with a suspension that has expired."""
        if is_over(account, self.clock.now()):
            self._record_change(account, {"status": self.active_status})
            account.status = self.active_status
            set_suspension(account, Suspension())

    def statuses(self) -> list[str]:
        """Return the statuses that an operator may set, without the pending status. Others are
        rejected: a mistyped status would lock the owner out."""
        return sorted({*STATUSES, *self.active_statuses})

    def check_role(self, role: str) -> None:
        """Raise Invalid for a role that `AUTH.ROLES` does not list."""
        if role not in self.roles:
            raise Invalid.about("role", not_a_role(self.roles))

    def is_last_root(self, account: AccountLike) -> bool:
        """Return whether no other active account has the role `root`. The transaction must have
        locked this role with `lock_roots`."""
        model = self.model
        other = select(model.id).where(
            model.role == ROOT, model.status.in_(self.active_statuses), model.id != account.id
        )
        return account.role == ROOT and self.session.scalar(other.limit(1)) is None

    def lock_roots(self) -> None:
        """Lock the role `root`, so that two roots cannot be removed at once."""
        lock_name(self.session, self.model, ROOT)

    def is_email_verified(self, account: AccountLike) -> bool:
        return getattr(account, "email_unverified_since", None) is None

    def verify_email_of(self, account: AccountLike) -> None:
        """Mark the email address as verified. A pending account becomes active, and
        `account-registered` is emitted."""
        model = self.model
        verified = self.session.execute(
            update(model)
            .where(model.id == account.id, model.email_unverified_since.is_not(None))
            .values(email_unverified_since=None)
            .returning(model.status)
            .execution_options(synchronize_session=False)
        ).one_or_none()
        self.session.refresh(account)
        # Of simultaneous requests, one verifies the address.
        if verified is not None:
            report_action(self.session, ACCOUNT_VERIFIED, account_id=account.id)
        if verified is not None and verified.status == PENDING:
            account.status = self.active_status
            self.session.flush()
            report_action(self.session, ACCOUNT_REGISTERED, account)

    def reclaim(self, account: AccountLike, since: datetime | None = None) -> None:
        """Remove the password and other credentials when the owner verifies the email address:
        another person may have set them up. `since` keeps credentials from before that time, when
        the owner controlled the account."""
        account.password_hash = None
        self._end_tokens(account)
        for reclaimer in self.reclaimers:
            reclaimer.remove(self.session, account, since)
        report_action(self.session, PASSWORD_REMOVED, account_id=account.id)
        self.session.flush()
        if not self.is_email_verified(account):
            self.verify_email_of(account)

    def get(self, email: str) -> A:
        """Return the account with an email address.

        Args:
            email: Email address, in any case.

        Returns:
            The account.

        Raises:
            AccountNotFound: No account has this email address.

        Example::

            account = frontdesk.accounts.get("ada@example.com")
        """
        account = self.find(email)
        if account is None:
            raise AccountNotFound
        return account

    def all(self, *conditions: ColumnElement[bool]) -> Iterator[A]:
        """Yield all accounts, or the ones that meet conditions, in the order of their ids.

        Args:
            conditions: Conditions on the columns of the account model.

        Returns:
            An iterator that reads the accounts in pages and keeps only one page in memory.

        Example::

            for account in frontdesk.accounts.all():
                print(account.email)
        """
        in_order = select(self.model).where(*conditions).order_by(self.model.id).limit(PAGE)
        query = in_order
        while page := self.session.scalars(query).all():
            yield from page
            query = in_order.where(self.model.id > page[-1].id)
            self.session.expunge_all()
            if len(page) < PAGE:
                return

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
        """Create an account, and emit `account-registered` in the same transaction.

        Args:
            email: Email address, which is stored in lower case.
            password: Password of at least 8 characters and at most 72 bytes; None for an account
                without a password: the owner can set one with password recovery.
            role: One of `AUTH.ROLES`: `user`, `admin`, `root` or a role of your own.
            status: Status of the account. For `pending`, `account-registered` is emitted when the
                email address is verified.
            phone: Phone number with `+` and the country code.
            more: Values of other columns of your model.

        Returns:
            The account.

        Raises:
            Conflict: Another account has the value of a unique column of your model.
            EmailTaken: Another account has the email address.
            Invalid: The role is not one of `AUTH.ROLES`, or a required column has no value.
            InvalidEmail: The email address is malformed.
            InvalidPhone: The phone number is malformed.
            UnfitPassword: The password is too short, too long or the email address.

        Example::

            account = frontdesk.accounts.create("ada@example.com", password, nickname="Ada")
        """
        email = read_email(email)
        self.check_role(role)
        if password is not None:
            more["password_hash"] = self._hash(password, email)
        with transaction(self.session, may_fail=True) as session:
            account: Any = self.model(
                email=email,
                role=role,
                status=status,
                phone=read_phone(phone) if phone else None,
                created_at=self.clock.now(),
                **more,
            )
            session.add(account)
            self.flush()
            note_locked(session, account)
            after = {"role": role, "status": status}
            report_action(session, ACCOUNT_CREATED, account_id=account.id, after=after)
            if status != PENDING:
                report_action(session, ACCOUNT_REGISTERED, account)
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
        **own: object,
    ) -> A:
        """Change the given fields; a new email address or password revokes all tokens.

        Args:
            account: The account.
            email: New email address.
            password: New password.
            role: New role.
            status: New status, which replaces an earlier suspension.
            phone: New phone number; an empty string removes it.
            suspension: End and reason of a suspension, for the status `suspended`.
            own: Values of your model's own columns; Conflict names one that another account has.

        Returns:
            The account.

        Raises:
            EmailTaken: Another account has the email address.
            Invalid: The role is not one of `AUTH.ROLES`.
            InvalidEmail: The email address is malformed.
            InvalidPhone: The phone number is malformed.
            TypeError: `own` has a column of Frontdesk, or a name that the model does not have.
            UnfitPassword: The password is too short, too long or the email address.

        Example::

            frontdesk.accounts.change(account, status="suspended", nickname="Ada")
        """
        stored = cast(AccountLike, account)
        self._check_change(role, own)
        password_hash = self._hash(password, email or stored.email) if password else None
        given = {"email": email, "password": password, "role": role, "status": status}
        if suspension is not None and suspension.until is not None:
            given["suspended_until"] = suspension.until.isoformat()
        with transaction(self.session, may_fail=True) as session:
            self._record_change(stored, {**given, "phone": phone}, own)
            has_new_email = self._set_credentials(stored, email, password_hash)
            if role is not None:
                stored.role = role
            if status is not None:
                self._set_status(stored, status, suspension or Suspension())
            if phone is not None:
                stored.phone = read_phone(phone) if phone else None
            for name, value in own.items():
                setattr(stored, name, value)
            self.flush()
            if has_new_email:
                report_action(session, EMAIL_CHANGE_COMPLETED, stored)
            return account

    def _set_status(self, account: AccountLike, status: str, suspension: Suspension) -> None:
        account.status = status
        set_suspension(account, suspension)
        if self.revokes_tokens_of_inactive and status not in self.active_statuses:
            self._end_tokens(account)

    def _set_credentials(
        self, account: AccountLike, email: str | None, password_hash: str | None
    ) -> bool:
        """Set the given ones, and return whether the email address is new."""
        email = account.email if email is None else read_email(email)
        is_new = email != account.email
        if is_new or password_hash is not None:
            # First, because it flushes: the unique index is checked with `flush`.
            self._end_tokens(account)
        if is_new:
            account.email = email
        if password_hash is not None:
            account.password_hash = password_hash
        return is_new

    def _check_change(self, role: str | None, own: Collection[str]) -> None:
        if role is not None:
            self.check_role(role)
        allowed = {*inspect(self.model).all_orm_descriptors.keys()} - frontdesk_names(self.model)
        if wrong := sorted(set(own) - allowed):
            raise TypeError(
                f"Accounts.change cannot change {', '.join(wrong)}: it takes its own arguments and"
                f" the columns that {self.model.__name__} adds to Frontdesk's."
            )

    def _record_change(
        self, account: AccountLike, given: Mapping[str, str | None], own: Collection[str] = ()
    ) -> None:
        """Record the former and the new role and status, and only the names of other fields."""
        names = [*(name for name, value in given.items() if value is not None), *own]
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
        """Delete an account. Listeners of `account-deleted` run before its rows are deleted.

        Args:
            account: The account.

        Example::

            frontdesk.accounts.delete(account)
        """
        stored = cast(AccountLike, account)
        with transaction(self.session) as session:
            report_action(session, ACCOUNT_DELETED, stored, account_id=stored.id)
            session.execute(delete(self.model).where(self.model.id == stored.id))

    def has_usable_password(self, account: A) -> bool:
        """Return whether an account has a password, and `AUTH.PASSWORDS` is on.

        Args:
            account: The account.

        Returns:
            Whether the owner can sign in with a password.

        Example::

            has_password = frontdesk.accounts.has_usable_password(account)
        """
        stored = cast(AccountLike, account)
        return self.passwords.enabled and stored.password_hash is not None

    def end_tokens(self, account: A) -> None:
        """Revoke all access tokens and sessions of an account for good, but no personal tokens.

        Args:
            account: The account. Its row is locked first, so that a concurrent sign-in is rejected
                or revoked.

        Example::

            with frontdesk.transaction():
                frontdesk.accounts.end_tokens(account)
        """
        self._end_tokens(cast(AccountLike, account))

    def _end_tokens(self, account: AccountLike) -> None:
        lock_loaded(self.session, account)
        # Read under the lock: another request may have revoked the tokens.
        stored = select(to_read(self.model, "tokens_valid_from")).where(self.model.id == account.id)
        with self.session.no_autoflush:
            former = self.session.scalar(stored)
        own = state_of(account).tokens_valid_from
        account.tokens_valid_from = next_valid_from(self.clock.now(), former, own)
        # Application code that changes the object may sign the account in afterwards.
        vars(account).pop(VERIFIED_STATE, None)

    def _hash(self, password: str, email: str) -> str:
        check_password(password, email)
        return self.passwords.hash(password)

    def flush(self) -> None:
        """Flush; raise EmailTaken if the unique index rejects the email address. For a column of
        the application, raise Invalid if it has no value, and Conflict if another account has the
        value."""
        try:
            self.session.flush()
        except IntegrityError as error:
            table, _, column = empty_column(error).rpartition(".")
            if table == inspect(self.model).local_table.name:
                raise MissingValue.about(column, REQUIRED) from None
            refused = taken_columns(error)
            if taken := [each for name, each in self._own_columns() if name in refused]:
                faults = [Fault.of("", name, TAKEN) for name in taken]
                raise Conflict(TAKEN, faults=faults) from None
            if any(name in each for name in self._email_columns for each in refused):
                raise EmailTaken from None
            raise

    def _own_columns(self) -> Iterator[tuple[str, str]]:
        """Yield each `table.column` that the application adds, with its attribute."""
        mapper, ours = inspect(self.model), frontdesk_names(self.model)
        for each in mapper.column_attrs:
            if each.key not in ours:
                yield f"{mapper.local_table.name}.{each.columns[0].name}", each.key


def not_a_role(roles: Sequence[str]) -> CodedMessage:
    return CodedMessage(f"Must be one of: {', '.join(roles)}.", "not_one_of", choices=[*roles])


def lock_if_password_unchanged(
    accounts: Accounts, account_id: object, password_hash: str | None
) -> AccountLike | None:
    """Return the locked account, or None if its password hash has changed: of simultaneous
    password changes, one succeeds."""
    account = accounts.lock(account_id)
    return account if account is not None and account.password_hash == password_hash else None
