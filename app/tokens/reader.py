"""The token in the `Authorization` header, as a credential."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from flask import Request

from ..accounts.service import Accounts
from ..auth.caller import Caller, Principal, WorkspaceCaller
from ..auth.errors import InactiveCaller, InvalidCredentials
from ..core.clock import Clock
from ..core.db.transaction import AnySession
from ..core.errors import EXPIRED, MALFORMED, REVOKED
from ..core.request import OriginToken
from .errors import TokenLimitReached
from .format import PERSONAL, digest_of, find_token
from .rows import TokenRows, read_workspace_token
from .uses import TokenUses

# The kind of credential of the caller.
PERSONAL_TOKEN = "personal_token"
# Returns the caller of a token by its digest, at a time; raises for an invalid token.
ReadDigest = Callable[[Request, str, datetime], Principal]


@dataclass(eq=False)
class TokenReader:
    """Reads the caller from the token of a program, of the kind that its prefix names."""

    # By prefix.
    kinds: Mapping[str, ReadDigest]
    limit: RequestLimit
    clock: Clock

    def __call__(self, request: Request, _optional: bool) -> Principal | None:
        prefix, digest = _parse(request.environ["HTTP_AUTHORIZATION"])
        read = self.kinds.get(prefix)
        if read is None:
            return None
        now = self.clock.now()
        self.limit.count(digest, now)
        return read(request, digest, now)


@lru_cache(10_000)
def _parse(header: str) -> tuple[str, str]:
    """Return the prefix and the digest of a token; raise InvalidCredentials for a malformed one,
    which is not cached."""
    token = find_token(header)
    if token is None:
        raise InvalidCredentials(reason=MALFORMED)
    return token[: len(PERSONAL)], digest_of(token)


@dataclass(eq=False)
class PersonalTokenReader:
    """Reads the account of a personal token.

    A sign-out and a change of password or email address do not end it: neither `logged_out_at` nor
    `tokens_valid_from` is compared.
    """

    rows: TokenRows
    accounts: Accounts
    uses: TokenUses

    def read(self, request: Request, digest: str, now: datetime) -> Caller:
        found = self.rows.read(digest)
        if found is None:
            raise InvalidCredentials
        account, token = found
        _check_valid(token.expires_at, now, account_id=account.id)
        if not self.accounts.is_active(account):
            raise InactiveCaller(note={"account_id": account.id})
        origin = OriginToken(token.id, token.name)
        caller = Caller(account, PERSONAL_TOKEN, _scopes(token.scopes), token.workspace_id, origin)
        self.uses.note(request, caller, origin, now)
        return caller


@dataclass(eq=False)
class WorkspaceTokenReader:
    session: AnySession
    uses: TokenUses

    def read(self, request: Request, digest: str, now: datetime) -> WorkspaceCaller:
        found = read_workspace_token(self.session, digest)
        if found is None:
            raise InvalidCredentials
        token_id, workspace_id, name, scopes, expires_at, member_type = found
        _check_valid(expires_at, now, workspace_id=workspace_id)
        origin = OriginToken(token_id, name)
        caller = WorkspaceCaller(workspace_id, member_type, _scopes(scopes), origin)
        self.uses.note(request, caller, origin, now)
        return caller


def _check_valid(expires_at: datetime | None, now: datetime, **note: object) -> None:
    """Raise InvalidCredentials for an ended token, which has no time, or an expired one."""
    if expires_at is None or expires_at <= now:
        raise InvalidCredentials(reason=EXPIRED if expires_at else REVOKED, note=note)


@lru_cache(1024)
def _scopes(names: str) -> frozenset[str]:
    return frozenset(names.split())


MINUTE = timedelta(minutes=1)
# The counters take a few megabytes at most; full ones are cleared.
MAX_TOKENS = 10_000


class RequestLimit:
    """Counts the requests of each token by the minute, in the memory of this worker: a counter in
    the shared state store would cost each request as much as reading the token."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._since = self._until = datetime.min.replace(tzinfo=UTC)
        self._counts: dict[str, int] = {}

    def count(self, token: str, now: datetime) -> None:
        """Count a request, before the token is read; raise TokenLimitReached beyond the limit."""
        if not self._since <= now < self._until or len(self._counts) >= MAX_TOKENS:
            self._since, self._until, self._counts = now, now + MINUTE, {}
        # Without a lock: simultaneous requests may count as one.
        counted = self._counts[token] = self._counts.get(token, 0) + 1
        if counted > self._most:
            raise TokenLimitReached(math.ceil((self._until - now).total_seconds()))
