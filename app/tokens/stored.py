"""What the services of personal tokens and of workspace tokens share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from sqlalchemy import ColumnElement, Select, or_, select, update

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..auth.caller import Caller, lock_caller
from ..auth.errors import InactiveCaller
from ..core.actions import Action, Target
from ..core.clock import Clock
from ..core.coded_messages import CodedMessage
from ..core.context import report_action
from ..core.db.pruning import delete_in_batches
from ..core.db.transaction import AnySession, execute_bulk
from ..core.errors import Invalid, NotFound
from ..core.limits import has_rows
from ..core.types import AccountKey, Values
from ..workspaces.models import Workspace
from .errors import TooManyTokens
from .format import SHOWN_LENGTH, digest_of, new_token
from .models import TokenModel
from .schemas import TokenCreate

# How many valid tokens an account or a workspace can have.
MAX_TOKENS = 25
# Until then an admin finds in the table when a token ended.
KEEP = timedelta(days=30)
BATCH_ROWS = 5_000

NOT_A_SCOPE = CodedMessage("Not a scope of this service.", "not_found")


class ShownToken(NamedTuple):
    """A valid token as its owner sees it."""

    id: int
    name: str
    prefix: str
    scopes: Sequence[str]
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    # The slug of the workspace that the token is limited to.
    workspace: str | None
    # The type of the member; only of a workspace token.
    type: str | None = None
    # Only at the creation.
    token: str | None = None


class TokenKind(NamedTuple):
    """What differs between personal tokens and workspace tokens."""

    model: TokenModel
    prefix: str
    # The name of the column with the owner's id.
    owner: str
    created: Action
    ended: Action
    missing: type[NotFound]


@dataclass(eq=False)
class StoredTokens:
    """The tokens of one kind, each of an owner: an account, or a workspace."""

    session: AnySession
    accounts: Accounts
    clock: Clock
    # The descriptions of all scopes by name.
    scopes: Mapping[str, str]

    kind: ClassVar[TokenKind]

    @property
    def model(self) -> TokenModel:
        return self.kind.model

    def list(self, owner_id: AccountKey) -> Sequence[ShownToken]:
        """Return the valid tokens of an owner, the newest first."""
        newest = self._shown(*self.valid_of(owner_id)).order_by(self.model.id.desc())
        return [_read(row) for row in self.session.execute(newest)]

    def lock_active(self, caller: Caller) -> AccountLike:
        """Lock the account that creates a token: what ends its sign-ins also prevents that."""
        account = lock_caller(self.accounts, caller)
        if not self.accounts.is_active(account):
            raise InactiveCaller
        return account

    def insert(self, given: TokenCreate.Input, columns: Values, **data: object) -> ShownToken:
        """Insert a token within a transaction that has locked its owner: of simultaneous requests,
        none exceeds the quota."""
        names = list(dict.fromkeys(given["scopes"]))
        if not self.scopes.keys() >= {*names}:
            raise Invalid.about("scopes", NOT_A_SCOPE)
        if has_rows(self.session, self.model, MAX_TOKENS, *self.valid_of(columns[self.kind.owner])):
            raise TooManyTokens
        text, now = new_token(self.kind.prefix), self.clock.now()
        token = self.model(
            name=given["name"],
            prefix=text[:SHOWN_LENGTH],
            digest=digest_of(text),
            scopes=" ".join(names),
            created_at=now,
            expires_at=now + timedelta(days=given["days"]),
            **columns,
        )
        self.session.add(token)
        self.session.flush()
        report_action(
            self.session,
            self.kind.created,
            account_id=columns.get("account_id"),
            workspace_id=columns["workspace_id"],
            target=target(self.model, token.id),
            name=token.name,
            scopes=names,
            expires_at=token.expires_at,
            **data,
        )
        row = self.session.execute(self._shown(self.model.id == token.id)).one()
        return _read(row)._replace(token=text)

    def end_one(self, owner_id: AccountKey, token_id: int, **about: Any) -> ShownToken:
        """End a token within a transaction. Of simultaneous requests, one finds it."""
        is_this = (self.model.id == token_id, *self.valid_of(owner_id))
        row = self.session.execute(self._shown(*is_this)).one_or_none()
        if row is None or not self.end_where(*is_this):
            raise self.kind.missing
        ended = target(self.model, token_id)
        report_action(self.session, self.kind.ended, target=ended, name=row.name, **about)
        return _read(row)

    def end_where(self, *which: ColumnElement[bool]) -> int:
        ending = update(self.model).where(*which).values(ended_at=self.clock.now())
        return execute_bulk(self.session, ending).rowcount

    def valid_of(self, owner_id: AccountKey) -> tuple[ColumnElement[bool], ...]:
        is_own = getattr(self.model, self.kind.owner) == owner_id
        return is_own, *is_valid(self.model, self.clock.now())

    def _shown(self, *which: ColumnElement[bool]) -> Select[Any]:
        model, names = self.model, ShownToken._fields
        columns = (getattr(model, name) for name in names if hasattr(model, name))
        shown = select(*columns, Workspace.slug.label("workspace")).select_from(model)
        return shown.outerjoin(Workspace, Workspace.id == model.workspace_id).where(*which)


def target(model: TokenModel, token_id: int) -> Target:
    return Target(model.kind, token_id)


def is_valid(model: TokenModel, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return model.ended_at.is_(None), model.expires_at > now


def prune(session: AnySession, model: TokenModel, now: datetime) -> int:
    """Delete tokens that ended or expired long ago; return their number."""
    is_old = or_(model.expires_at < now - KEEP, model.ended_at < now - KEEP)
    return delete_in_batches(session, model, is_old, batch=BATCH_ROWS)


def _read(row: Any) -> ShownToken:
    return ShownToken(**{**row._mapping, "scopes": row.scopes.split()})
