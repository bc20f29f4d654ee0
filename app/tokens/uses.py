"""Stores when a token was last used, and the networks that use it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from flask import Request
from sqlalchemy import select, update

from ..accounts.models import AccountLike
from ..auth.sessions.devices import stored_ip_address
from ..core.context import report_action
from ..core.db.transaction import AnySession, execute_bulk, has_begun, transaction
from ..core.request import set_origin_account
from .actions import PERSONAL_TOKEN_NETWORK_ADDED
from .models import PersonalToken
from .rows import TokenRow
from .service import target

# The time of use is stored, and a new network is added, at most once in this period.
PERIOD = timedelta(hours=1)
# The networks of a token that are known; the oldest is forgotten.
MAX_NETWORKS = 40
# The uses that a worker remembers; a full memory is cleared.
MAX_USES = 10_000
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(eq=False)
class TokenUses:
    session: AnySession
    # Whether the networks that use a token are stored.
    keeps_networks: bool
    # When this worker next reads what is stored, by the token and the IP address: most requests
    # neither read nor write it.
    _next: dict[tuple[int, str | None], datetime] = field(default_factory=dict, init=False)

    def note(self, request: Request, account: AccountLike, token: TokenRow, now: datetime) -> None:
        """Store a use. If the application has begun a transaction, the next request stores it."""
        address = request.remote_addr if self.keeps_networks else None
        if now < self._next.get((token.id, address), _NEVER) or has_begun(self.session):
            return
        network = stored_ip_address(address, "network")
        with transaction(self.session):
            set_origin_account(account.id, request)
            next_at = self._store(account, token, network, now)
        if len(self._next) >= MAX_USES:
            self._next.clear()
        self._next[token.id, address] = next_at

    def _store(
        self, account: AccountLike, token: TokenRow, network: str | None, now: datetime
    ) -> datetime:
        """Store the time and a new network, and return when to store the next use."""
        stored = select(
            PersonalToken.last_used_at, PersonalToken.networks, PersonalToken.network_at
        )
        is_this = PersonalToken.id == token.id
        last, networks, network_at = self.session.execute(stored.where(is_this)).one()
        known = networks.split()
        is_new = network is not None and network not in known
        if is_new and network_at is not None and network_at + PERIOD > now:
            return network_at + PERIOD
        changes: dict[str, object] = {"last_used_at": now}
        if network is not None and is_new:
            # The first use only records its network.
            changes["network_at"] = now if known else None
            changes["networks"] = " ".join([*known, network][-MAX_NETWORKS:])
        elif last is not None and last + PERIOD > now:
            return now + PERIOD
        # Of simultaneous requests, the first records a network.
        unchanged = is_this, PersonalToken.networks == networks
        changed = execute_bulk(
            self.session, update(PersonalToken).where(*unchanged).values(changes)
        )
        if changed.rowcount and is_new and known:
            report_action(
                self.session,
                PERSONAL_TOKEN_NETWORK_ADDED,
                account_id=account.id,
                target=target(token.id),
                name=token.name,
                network=network,
            )
        return now + PERIOD
