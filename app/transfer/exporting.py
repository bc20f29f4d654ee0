"""Exports accounts in the format of the import, one page at a time."""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, TextIO

import orjson
from sqlalchemy import func, inspect, select
from sqlalchemy.orm import undefer

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..auth.idp.models import Identity
from ..core.types import AccountKey
from ..profiles.models import PROPERTIES, Profile
from ..workspaces.models import Member, Workspace
from .account import ImportedIdentity

PAGE = 1_000
# The columns of an account; an application's model may lack some of them.
ACCOUNT_COLUMNS = (
    *("id", "email", "email_verified", "email_unverified_since", "password_hash"),
    *("role", "status", "phone"),
    *("created_at", "last_login_date", "tokens_valid_from", "logged_out_at"),
    *("suspended_until", "suspended_reason"),
)
COLUMNS = (*ACCOUNT_COLUMNS, "current_workspace", "workspaces", "identities", "profile")
_PROFILE_COLUMNS = [*sorted(PROPERTIES - {"id", "account_id"}), "avatar_file"]

Line = dict[str, object]


class Exporter:
    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        self.session = accounts.session

    def count(self) -> int:
        return self.session.scalar(select(func.count(self.accounts.model.id))) or 0

    def lines(self, advance: Callable[[int], None] = lambda _count: None) -> Iterator[Line]:
        """Yield the accounts, and report the number of accounts in each page."""
        last = None
        while page := self._page(last):
            last = page[-1].id
            yield from self._lines(page)
            advance(len(page))
            self.session.expunge_all()

    def _page(self, after: object) -> Sequence[Any]:
        model = self.accounts.model
        page = select(model).order_by(model.id).limit(PAGE)
        if "suspended_reason" in inspect(model).column_attrs:
            page = page.options(undefer(model.suspended_reason))
        return self.session.scalars(page if after is None else page.where(model.id > after)).all()

    def _lines(self, page: Sequence[AccountLike]) -> Iterator[Line]:
        keys = [account.id for account in page]
        members, current = self._members(page, keys)
        identities = self._identities(keys)
        stored = select(Profile).where(Profile.account_id.in_(keys))
        profiles = {row.account_id: _profile(row) for row in self.session.scalars(stored)}
        for account in page:
            line = {name: _plain(getattr(account, name, None)) for name in ACCOUNT_COLUMNS}
            line |= {
                "email_verified": self.accounts.is_email_verified(account),
                "current_workspace": current.get(account.id),
                "workspaces": members.get(account.id),
                "identities": identities.get(account.id),
                "profile": profiles.get(account.id),
            }
            yield _without_none(line)

    def _members(
        self, page: Sequence[AccountLike], keys: list[AccountKey]
    ) -> tuple[dict[AccountKey, list[Line]], dict[AccountKey, str]]:
        """Return the memberships of each account, and the slug of its current workspace."""
        chosen = {account.id: account.current_workspace_id for account in page}
        memberships: dict[AccountKey, list[Line]] = defaultdict(list)
        current: dict[AccountKey, str] = {}
        rows = self.session.execute(
            select(Member, Workspace)
            .join(Workspace, Workspace.id == Member.workspace_id)
            .where(Member.account_id.in_(keys))
            .order_by(Member.id)
        )
        for member, workspace in rows:
            memberships[member.account_id].append(
                {
                    "slug": workspace.slug,
                    "type": member.type,
                    "status": member.status,
                    "since": _plain(member.created_at),
                    "name": workspace.name,
                    "is_default": workspace.is_default,
                    "is_personal": workspace.is_personal,
                    "workspace_created_at": _plain(workspace.created_at),
                }
            )
            if chosen[member.account_id] == workspace.id:
                current[member.account_id] = workspace.slug
        return memberships, current

    def _identities(self, keys: list[AccountKey]) -> dict[AccountKey, list[Line]]:
        identities: dict[AccountKey, list[Line]] = defaultdict(list)
        rows = select(Identity).where(Identity.account_id.in_(keys)).order_by(Identity.id)
        for row in self.session.scalars(rows):
            identities[row.account_id].append(
                {field.name: _plain(getattr(row, field.name)) for field in fields(ImportedIdentity)}
            )
        return identities


def write_ndjson(lines: Iterator[Line], file: TextIO) -> int:
    count = 0
    for line in lines:
        file.write(orjson.dumps(line, default=str).decode() + "\n")
        count += 1
    return count


def write_csv(lines: Iterator[Line], file: TextIO) -> int:
    """Write CSV; lists and objects are JSON in their fields."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    count = 0
    for line in lines:
        writer.writerow(_field(line.get(name)) for name in COLUMNS)
        count += 1
    return count


def _field(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return orjson.dumps(value, default=str).decode()


def _without_none(line: Line) -> Line:
    return {name: value for name, value in line.items() if value is not None}


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _profile(row: Profile) -> Line:
    """Return a profile with its additional properties, which never have a column's name."""
    columns = {name: _plain(getattr(row, name)) for name in _PROFILE_COLUMNS}
    return {**row.extra, **_without_none(columns)}
