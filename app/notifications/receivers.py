"""The receivers of a notification: the audience as a value, and its accounts as a query.

Accounts are never loaded: all statements are built from the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, Table, false, func, insert, literal, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..core.db.account_ids import IdKind, serialize_id
from ..core.db.base import timestamp_literal
from ..core.db.id_lists import id_list
from ..core.db.transaction import AnySession
from ..core.types import AccountKey, AccountModel, JsonObject, Values
from ..workspaces.models import ACTIVE, Member
from .errors import UnknownReceivers
from .models import InboxItem

MAX_NAMED_IDS = 20


def account_ids(accounts: Iterable[object]) -> list[Any]:
    return [getattr(each, "id", each) for each in accounts]


@dataclass(frozen=True, kw_only=True)
class Audience:
    """The recipients of a notification: the accounts that meet every condition that is set.

    Without any condition, all accounts are recipients.

    Args:
        ids: Accounts with these ids.
        status: Accounts with this status, such as `active`.
        active: Accounts that can sign in (True) or cannot (False), see `AUTH.ACTIVE_STATUSES`.
        verified: Accounts with a verified email address (True), or without (False).
        role: Accounts with this role, such as `admin`.
        workspace: Active members of the workspace with this id.
        language: Accounts with this language, such as `de`, also with a region: `de-AT`.

    Example::

        frontdesk.notify("Maintenance", "On Friday.", receivers=Audience(role="admin"))
    """

    ids: Sequence[Any] | None = None
    status: str | None = None
    active: bool | None = None
    verified: bool | None = None
    role: str | None = None
    workspace: int | None = None
    language: str | None = None

    def to_json(self) -> JsonObject:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.ids is not None:
            values["ids"] = [serialize_id(each) for each in self.ids]
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_json(cls, values: Values, kind: IdKind) -> Audience:
        ids = values.get("ids")
        return cls(**{**values, "ids": None if ids is None else [kind.from_text(x) for x in ids]})


def is_verified_row(account: AccountModel, is_verified: bool) -> ColumnElement[bool]:
    since: Any = getattr(account, "email_unverified_since", None)
    if since is None:
        # Every address of these accounts counts as verified.
        return true() if is_verified else false()
    condition: ColumnElement[bool] = since.is_(None) if is_verified else since.is_not(None)
    return condition


def has_language_row(account: AccountModel, language: str) -> ColumnElement[bool]:
    locale: Any = getattr(account, "locale", None)
    if locale is None:
        return false()
    return or_(locale == language, locale.startswith(f"{language}-", autoescape=True))


def is_in_audience(
    audience: Audience, account: AccountLike, accounts: Accounts, is_member: bool
) -> bool:
    """Return whether a loaded account meets the conditions by which `Receivers` selects accounts.

    The ids of the audience are those of `to_json`. `is_member` says whether the account is an
    active member of the audience's workspace.
    """
    language, locale = audience.language, getattr(account, "locale", None) or ""
    return (
        (audience.ids is None or serialize_id(account.id) in audience.ids)
        and audience.status in (None, account.status)
        and audience.active in (None, accounts.is_active(account))
        and audience.verified in (None, accounts.is_email_verified(account))
        and audience.role in (None, account.role)
        and (audience.workspace is None or is_member)
        and (language is None or locale == language or locale.startswith(f"{language}-"))
    )


def check_role(receivers: object, accounts: Accounts[Any]) -> None:
    """Raise Invalid for an audience with a role that `AUTH.ROLES` does not list."""
    if isinstance(receivers, Audience) and receivers.role is not None:
        accounts.check_role(receivers.role)


@dataclass(frozen=True)
class AccountRange:
    """Accounts with ids above `after` and up to `until`, and created until a time."""

    after: AccountKey | None = None
    until: AccountKey | None = None
    created_until: datetime | None = None


@dataclass(frozen=True)
class Receivers:
    """The accounts of an audience, or a range of them."""

    session: AnySession
    accounts: Accounts
    audience: Audience
    within: AccountRange | None = None

    @classmethod
    def of(
        cls, session: AnySession, accounts: Accounts, to: Audience | Iterable[object] | None
    ) -> Receivers:
        """Return the receivers for an audience, for accounts or their ids, each once, or for all
        accounts (None).

        Raises UnknownReceivers for ids that no account has.
        """
        audience = to if isinstance(to, Audience) else Audience(ids=None if to is None else [*to])
        if audience.ids is None:
            return cls(session, accounts, audience)
        ids = tuple(dict.fromkeys(account_ids(audience.ids)))
        receivers = cls(session, accounts, replace(audience, ids=ids))
        if ids and (unknown := receivers._unknown()):
            raise UnknownReceivers(unknown)
        return receivers

    def apply_hook(self, hook: Any) -> Receivers:
        """Return the receivers that the application's hook chooses among the loaded accounts."""
        accounts = self._filter(select(self.accounts.model).order_by(self.accounts.model.id))
        chosen = hook(list(self.session.scalars(accounts)), self.session)
        ids = tuple(dict.fromkeys(account_ids(chosen)))
        return replace(self, audience=Audience(ids=ids))

    def count(self) -> int:
        ids = self.audience.ids
        if ids is not None and self.audience == Audience(ids=ids):
            return len(ids)
        counted = self._filter(select(func.count()).select_from(self.accounts.model))
        return int(self.session.scalar(counted) or 0)

    def end_of_range(self, most: int) -> AccountKey | None:
        """Return the id of the last receiver in the next range, or None without receivers."""
        account_id = self.accounts.model.id
        first = self._filter(select(account_id).order_by(account_id).limit(most)).subquery()
        [found] = first.c
        return self.session.scalar(select(found).order_by(found.desc()).limit(1))

    def last_created_at(self) -> datetime | None:
        """Return when the newest of all accounts was created."""
        found = self.session.scalar(select(func.max(self.accounts.model.created_at)))
        # The table of an application can have moments without an offset, which are in UTC.
        return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)

    def fill_inbox(self, notification_id: int) -> int:
        """Insert an unread row for each receiver and return how many there are."""
        rows = select(literal(notification_id), self.accounts.model.id, literal(False))
        statement = insert(cast(Table, InboxItem.__table__)).from_select(
            ["notification_id", "receiver_id", "is_read"], self._filter(rows)
        )
        result: Any = self.session.execute(
            statement.inline(), execution_options={"preserve_rowcount": True}
        )
        return int(result.rowcount)

    def targets(self, notification_id: int | None) -> Select[Any]:
        """Select the ids of the accounts to send to. With a notification, these are
        exactly the accounts that have it in their inbox: others may have been created since."""
        account = self.accounts.model
        if notification_id is None:
            return self._filter(select(account.id))
        receivers = (
            select(InboxItem.receiver_id)
            .join(account, account.id == InboxItem.receiver_id)
            .where(InboxItem.notification_id == notification_id)
        )
        if self.within is not None:
            return receivers.where(*self._range_conditions(InboxItem.receiver_id))
        return receivers

    def _filter(self, statement: Select[Any]) -> Select[Any]:
        account, audience = self.accounts.model, self.audience
        if audience.ids is not None or self.within is not None:
            statement = statement.where(*self._range_conditions(account.id))
        if audience.status is not None:
            statement = statement.where(self.accounts.has_status_row(audience.status))
        if audience.active is not None:
            is_active = self.accounts.is_active_row()
            statement = statement.where(is_active if audience.active else ~is_active)
        if audience.verified is not None:
            statement = statement.where(is_verified_row(account, audience.verified))
        if audience.role is not None:
            statement = statement.where(account.role == audience.role)
        if audience.workspace is not None:
            members = select(Member.account_id).where(
                Member.workspace_id == audience.workspace, Member.status == ACTIVE
            )
            statement = statement.where(account.id.in_(members))
        if audience.language is not None:
            statement = statement.where(has_language_row(account, audience.language))
        if self.within is not None and self.within.created_until is not None:
            created_at = account.created_at
            is_early = created_at <= timestamp_literal(created_at, self.within.created_until)
            # The table of an application can have accounts of unknown age.
            statement = statement.where(is_early | created_at.is_(None))
        return statement

    def _range_conditions(
        self, account_id: InstrumentedAttribute[Any]
    ) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = []
        if self.audience.ids is not None:
            found.append(account_id.in_(select(self._id_list())))
        within = self.within or AccountRange()
        if within.after is not None:
            found.append(account_id > within.after)
        if within.until is not None:
            found.append(account_id <= within.until)
        return found

    def _unknown(self) -> Sequence[Any]:
        ids = self._id_list()
        known = select(self.accounts.model.id).where(self.accounts.model.id == ids).exists()
        missing = select(ids).where(~known).limit(MAX_NAMED_IDS)
        return list(self.session.scalars(missing))

    def _id_list(self) -> Any:
        dialect = self.session.get_bind().dialect
        return id_list(self.audience.ids or (), self.accounts.model.id.type, dialect)
