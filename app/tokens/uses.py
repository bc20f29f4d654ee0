"""Stores when a token was last used, and the networks that use it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from flask import Request
from sqlalchemy import select, update

from ..auth.caller import Caller, Principal, set_origin
from ..auth.errors import InvalidCredentials
from ..auth.sessions.devices import stored_ip_address
from ..core.actions import Action
from ..core.context import report_action
from ..core.db.transaction import AnySession, execute_bulk, has_begun, transaction
from ..core.errors import REVOKED
from ..core.request import OriginToken
from .models import TokenModel
from .stored import target

# The time of use is stored, and a new network is added, at most once in this period.
PERIOD = timedelta(hours=1)
# The networks of a token that are known; the oldest is forgotten.
MAX_NETWORKS = 40
# The uses that a worker remembers; a full memory is cleared.
MAX_USES = 10_000
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(eq=False)
class TokenUses:
    """The uses of one kind of tokens."""

    session: AnySession
    model: TokenModel
    new_network: Action
    # Whether the networks that use a token are stored.
    keeps_networks: bool
    # When this worker next reads the stored use, by the token and the IP address: most requests
    # neither read nor write it.
    _next: dict[tuple[int, str | None], datetime] = field(default_factory=dict, init=False)

    def note(self, request: Request, found: Principal, token: OriginToken, now: datetime) -> None:
        """Store a use. If the application has begun a transaction, the next request stores it."""
        address = request.remote_addr if self.keeps_networks else None
        if now < self._next.get((token.id, address), _NEVER) or has_begun(self.session):
            return
        network = stored_ip_address(address, "network")
        with transaction(self.session):
            set_origin(found, request)
            next_at = self._store(found, token, network, now)
        if len(self._next) >= MAX_USES:
            self._next.clear()
        self._next[token.id, address] = next_at

    def _store(
        self, found: Principal, token: OriginToken, network: str | None, now: datetime
    ) -> datetime:
        """Store the time and a new network, and return when to store the next use."""
        model, is_this = self.model, self.model.id == token.id
        stored = select(model.last_used_at, model.networks, model.network_at)
        row = self.session.execute(stored.where(is_this)).one_or_none()
        if row is None:
            # The workspace or membership was deleted since the token was read.
            raise InvalidCredentials(reason=REVOKED)
        last, networks, network_at = row
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
        changing = update(model).where(is_this, model.networks == networks).values(changes)
        changed = execute_bulk(self.session, changing)
        if changed.rowcount and is_new and known:
            report_action(
                self.session,
                self.new_network,
                account_id=found.account.id if isinstance(found, Caller) else None,
                workspace_id=found.workspace_id,
                target=target(model, token.id),
                name=token.name,
                network=network,
            )
        return now + PERIOD
