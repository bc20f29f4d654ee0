from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any, cast

from sqlalchemy import bindparam, delete, inspect, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapper, make_transient_to_detached
from sqlalchemy.orm.attributes import set_committed_value

from ..core.clock import Clock
from ..core.events import Emitter
from ..core.rows import Rows
from ..core.transaction import AnySession, transaction
from .addresses import fold, read_email, read_phone
from .errors import AccountNotFound, EmailTaken
from .models import AccountLike
from .passwords import Passwords, check_password

REGISTERED = "account-registered"
DELETED = "account-deleted"
PAGE = 500


class Accounts:
    """Makes, finds, changes and deletes accounts, of whichever model the host has."""

    def __init__(
        self,
        session: AnySession,
        model: type[Any],
        passwords: Passwords,
        emitter: Emitter,
        clock: Clock,
    ) -> None:
        self.session = session
        self.model = model
        self.passwords = passwords
        self.emitter = emitter
        self.clock = clock
        # What the host loads later (deferred columns) is not read for every request either.
        self._names = [name.key for name in _mapper(model).column_attrs if not name.deferred]
        # Renamed are those that a tuple cannot have, `_secret` for one.
        self._row: Any = namedtuple("AccountRow", self._names, rename=True)  # type: ignore[misc]
        columns = (getattr(model, name) for name in self._names)
        self._rows = Rows(select(*columns).where(model.email == bindparam("email")))
        self._credentials = Rows(
            select(model.id, model.password_hash).where(model.email == bindparam("email"))
        )

    def read(self, email: str) -> AccountLike | None:
        """The account's columns as a plain row, for the guards of every request."""
        rows = self._rows.read(self.session, email=fold(email))
        return cast(AccountLike, self._row._make(rows[0])) if rows else None

    def attach(self, row: AccountLike) -> AccountLike:
        """The account whose row this is, as an object of the session, without asking again."""
        present: AccountLike | None = self.session.identity_map.get(
            _mapper(self.model).identity_key_from_primary_key((row.id,))
        )
        if present is not None:
            return present
        account = _mapper(self.model).class_manager.new_instance()
        for name, value in zip(self._names, cast(Any, row), strict=True):
            set_committed_value(account, name, value)
        make_transient_to_detached(account)
        self.session.add(account)
        return cast(AccountLike, account)

    def find(self, email: str) -> AccountLike | None:
        found: AccountLike | None = self.session.scalar(
            select(self.model).where(self.model.email == fold(email))
        )
        return found

    def by_id(self, account_id: object) -> AccountLike | None:
        found: AccountLike | None = self.session.get(self.model, account_id)
        return found

    def credentials(self, email: str) -> tuple[object, str | None]:
        """The id and password hash of an account, without loading it; nothing where none is."""
        rows = self._credentials.read(self.session, email=fold(email))
        return (rows[0][0], rows[0][1]) if rows else (None, None)

    def get(self, email: str) -> AccountLike:
        account = self.find(email)
        if account is None:
            raise AccountNotFound
        return account

    def all(self) -> Iterator[AccountLike]:
        """Every account, read some hundreds at a time: there may be millions."""
        last = 0
        while page := self.session.scalars(
            select(self.model).where(self.model.id > last).order_by(self.model.id).limit(PAGE)
        ).all():
            yield from page
            last = page[-1].id
            self.session.expunge_all()

    def create(
        self,
        email: str,
        password: str | None,
        *,
        role: str = "user",
        status: str = "active",
        phone: str | None = None,
        **more: Any,
    ) -> AccountLike:
        """A new account, told to `account-registered` in the same transaction."""
        email = read_email(email)
        password_hash = self._hash(password, email) if password is not None else None
        with transaction(self.session):
            account: AccountLike = self.model(
                email=email,
                password_hash=password_hash,
                role=role,
                status=status,
                phone=read_phone(phone) if phone else None,
                created_at=self.clock.now(),
                **more,
            )
            self.session.add(account)
            self._flush_email()
            self.emitter.emit(REGISTERED, account, self.session)
            return account

    def change(
        self,
        account: AccountLike,
        *,
        email: str | None = None,
        password: str | None = None,
        role: str | None = None,
        status: str | None = None,
        phone: str | None = None,
    ) -> AccountLike:
        """Change what is given. A new e-mail or password ends every token from before."""
        password_hash = self._hash(password, email or account.email) if password else None
        with transaction(self.session):
            if email is not None and read_email(email) != account.email:
                account.email = read_email(email)
                self.end_tokens(account)
            if password_hash is not None:
                account.password_hash = password_hash
                self.end_tokens(account)
            if role is not None:
                account.role = role
            if status is not None:
                account.status = status
            if phone is not None:
                account.phone = read_phone(phone) if phone else None
            self._flush_email()
            return account

    def delete(self, account: AccountLike) -> None:
        """Told to `account-deleted` while all that is the account's is still there."""
        with transaction(self.session):
            self.emitter.emit(DELETED, account, self.session)
            self.session.execute(delete(self.model).where(self.model.id == account.id))

    def end_tokens(self, account: AccountLike) -> None:
        """From now on, only tokens that are issued later count."""
        account.tokens_valid_from = self.clock.now()

    def _hash(self, password: str, email: str) -> str:
        check_password(password, email)
        return self.passwords.hash(password)

    def _flush_email(self) -> None:
        """Two at once cannot take one address: the second meets the unique index."""
        try:
            self.session.flush()
        except IntegrityError as error:
            if "email" in str(error.orig):
                raise EmailTaken from None
            raise


def _mapper(model: type[Any]) -> Mapper[Any]:
    found: Mapper[Any] = inspect(model)
    return found
