"""The token in the `Authorization` header, as a credential."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from flask import Request
from sqlalchemy import update

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..auth.caller import Caller, Principal
from ..auth.errors import InactiveCaller, InvalidCredentials
from ..auth.sessions.devices import stored_ip_address
from ..core.clock import Clock
from ..core.context import report_action
from ..core.db.transaction import AnySession, execute_bulk, has_begun, transaction
from ..core.errors import EXPIRED, MALFORMED, REVOKED
from ..core.request import OriginToken, set_origin_account
from .actions import PERSONAL_TOKEN_NETWORK_ADDED
from .format import PERSONAL, digest_of, find_token
from .limits import RequestLimit
from .models import PersonalToken
from .rows import TokenRow, TokenRows
from .service import target

# The kind of credential of the caller.
PERSONAL_TOKEN = "personal_token"
# The time of the last use is stored, and a new network is added, at most once in this period.
USE_PERIOD = timedelta(hours=1)
# The networks of a token that are known; the oldest is forgotten.
MAX_NETWORKS = 40

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

    session: AnySession
    rows: TokenRows
    accounts: Accounts
    # Whether the networks that use a token are stored.
    keeps_networks: bool

    def read(self, request: Request, digest: str, now: datetime) -> Caller:
        found = self.rows.read(digest)
        if found is None:
            raise InvalidCredentials
        account, token = found
        if token.ended_at is not None or token.expires_at <= now:
            reason = EXPIRED if token.ended_at is None else REVOKED
            raise InvalidCredentials(reason=reason, note={"account_id": account.id})
        if not self.accounts.is_active(account):
            raise InactiveCaller(note={"account_id": account.id})
        self._note_use(request, account, token, now)
        origin = OriginToken(token.id, token.name)
        return Caller(account, PERSONAL_TOKEN, _scopes(token.scopes), token.workspace_id, origin)

    def _note_use(
        self, request: Request, account: AccountLike, token: TokenRow, now: datetime
    ) -> None:
        """Store the time of the use and a new network. If the application has begun a transaction,
        the next request stores them."""
        address = request.remote_addr if self.keeps_networks else None
        network = _network(address) if address else None
        is_new = (
            network is not None
            and network not in token.networks.split()
            and _is_due(token.network_at, now)
        )
        if not (is_new or _is_due(token.last_used_at, now)) or has_begun(self.session):
            return
        changes: dict[str, object] = {"last_used_at": now}
        if network is not None and is_new:
            changes["networks"] = " ".join([*token.networks.split(), network][-MAX_NETWORKS:])
            # The first use only records its network.
            changes["network_at"] = now if token.networks else None
        unchanged = (
            PersonalToken.id == token.id,
            PersonalToken.last_used_at.is_not_distinct_from(token.last_used_at),
            PersonalToken.networks == token.networks,
        )
        with transaction(self.session) as session:
            # Of simultaneous requests, the first stores and records the use.
            statement = update(PersonalToken).where(*unchanged).values(changes)
            if execute_bulk(session, statement).rowcount and is_new and token.networks:
                set_origin_account(account.id, request)
                report_action(
                    session,
                    PERSONAL_TOKEN_NETWORK_ADDED,
                    account_id=account.id,
                    target=target(token.id),
                    name=token.name,
                    network=network,
                )


def _is_due(last: datetime | None, now: datetime) -> bool:
    return last is None or now - last >= USE_PERIOD


@lru_cache(1024)
def _network(address: str) -> str | None:
    return stored_ip_address(address, "network")


@lru_cache(1024)
def _scopes(names: str) -> frozenset[str]:
    return frozenset(names.split())
