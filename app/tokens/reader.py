"""The token in the `Authorization` header, as a credential."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from flask import Request

from ..accounts.service import Accounts
from ..auth.caller import Caller, Principal
from ..auth.errors import InactiveCaller, InvalidCredentials
from ..core.clock import Clock
from ..core.errors import EXPIRED, MALFORMED, REVOKED
from ..core.request import OriginToken
from .format import PERSONAL, digest_of, find_token
from .limits import RequestLimit
from .rows import TokenRows
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
        if token.expires_at is None or token.expires_at <= now:
            reason = REVOKED if token.expires_at is None else EXPIRED
            raise InvalidCredentials(reason=reason, note={"account_id": account.id})
        if not self.accounts.is_active(account):
            raise InactiveCaller(note={"account_id": account.id})
        self.uses.note(request, account, token, now)
        origin = OriginToken(token.id, token.name)
        return Caller(account, PERSONAL_TOKEN, _scopes(token.scopes), token.workspace_id, origin)


@lru_cache(1024)
def _scopes(names: str) -> frozenset[str]:
    return frozenset(names.split())
