"""Links between stored sessions and the sessions at identity providers through which they were
opened, for sign-out at the provider. A link is deleted when its session ends."""

import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from sqlalchemy import ColumnElement, or_, select, update

from ...accounts.actions import ACCOUNT_UPDATED
from ...accounts.rows import to_read
from ...core.context import BasicService
from ...core.db.pruning import delete_rows
from ...core.db.transaction import AnySession, transaction, write_last
from ...core.types import AccountKey, AccountModel, Values
from ...core.web.fields import is_storable
from .. import actions
from ..sealing import DecryptionFailed, Sealing
from ..sessions.models import AccountSession, is_active_session
from ..sessions.settings import SessionLimits
from .models import Identity
from .provider_models import LONGEST_SID, ProviderSession

# Why a session was ended before its expiry.
BY_PROVIDER = "provider"
# How long a sign-in can wait for further steps: a code by email and a second factor.
SECONDS = 3600

# The actions that end sessions. Sessions that end in another way, such as by their expiry, lose
# their link when expired data is pruned.
ENDING_ACTIONS = (
    *(actions.LOGOUT_SUCCEEDED, actions.TOKENS_ENDED, actions.SESSION_ENDED),
    *(actions.SESSION_REUSED, actions.PASSWORD_RESET, actions.PASSWORD_CHANGED, ACCOUNT_UPDATED),
    *(actions.AUTHENTICATOR_ADDED, actions.AUTHENTICATOR_REMOVED, actions.AUTHENTICATORS_RESET),
)


@dataclass(eq=False)
class ProviderSessions(BasicService):
    account_model: AccountModel
    sealing: Sealing
    limits: SessionLimits

    def remember(self, claims: Values, id_token: str) -> None:
        """Store a sign-in at a provider in the shared state store until its session is opened."""
        reference, sid = reference_of(claims), claims.get("sid")
        has_sid = isinstance(sid, str) and 0 < len(sid) <= LONGEST_SID and is_storable(sid)
        sealed = self.sealing.seal(id_token.encode(), reference)
        stored = [claims["iss"], claims["sub"], sid if has_sid else None, sealed]
        self.basics.keystore.put(_key(reference), json.dumps(stored), SECONDS)

    def link_session(self, opened: AccountSession, reference: str) -> None:
        """Link a new session within the transaction of its sign-in."""
        stored = self.basics.keystore.get(_key(reference))
        if stored is None:
            return
        issuer, subject, sid, sealed = json.loads(stored)
        identity_id = self.session.scalar(
            select(Identity.id).where(
                Identity.issuer == issuer,
                Identity.subject == subject,
                Identity.account_id == opened.account_id,
            )
        )
        if identity_id is not None:
            id_token = self.sealing.open(sealed, reference)
            self.session.add(
                ProviderSession(
                    session_id=opened.id,
                    identity_id=identity_id,
                    sid=sid,
                    id_token=self.sealing.seal(id_token, _row(opened.id)),
                )
            )

    def find(self, session_id: int) -> tuple[str, str | None] | None:
        """Return the issuer and the ID token of the sign-in that opened a session, or None if it
        was opened in another way. An ID token that no key decrypts is None."""
        row = self.session.execute(
            select(Identity.issuer, ProviderSession.id_token)
            .join(Identity, Identity.id == ProviderSession.identity_id)
            .where(ProviderSession.session_id == session_id)
        ).one_or_none()
        if row is None:
            return None
        issuer, sealed = row
        with suppress(DecryptionFailed):
            return issuer, self.sealing.open(sealed or "", _row(session_id)).decode()
        return issuer, None

    def end(self, claims: Values) -> list[tuple[AccountKey, UUID]]:
        """End the sessions of a logout token within the open transaction. Return their accounts and
        public ids."""
        linked = (
            select(ProviderSession.session_id)
            .join(Identity, Identity.id == ProviderSession.identity_id)
            .where(Identity.issuer == claims["iss"])
        )
        if "sub" in claims:
            linked = linked.where(Identity.subject == claims["sub"])
        if "sid" in claims:
            linked = linked.where(ProviderSession.sid == claims["sid"])
        ending = (
            update(AccountSession)
            .where(AccountSession.id.in_(linked), AccountSession.ended_at.is_(None))
            .values(ended_at=self.clock.now(), end_reason=BY_PROVIDER)
            .returning(AccountSession.account_id, AccountSession.public_id)
            .execution_options(synchronize_session=False)
        )
        return [(account_id, public_id) for account_id, public_id in self.session.execute(ending)]

    def clear(self, account_id: AccountKey | None) -> None:
        """Delete the links of an account's ended sessions at the end of the open transaction; None
        stands for all accounts."""
        write_last(self.session, self._clear, account_id)

    def _clear(self, session: AnySession, account_ids: Collection[AccountKey | None]) -> None:
        own = select(Identity.id).where(Identity.account_id.in_(account_ids))
        chosen = [] if None in account_ids else [ProviderSession.identity_id.in_(own)]
        delete_rows(session, ProviderSession, ~self._is_active(), *chosen)

    def prune(self) -> int:
        with transaction(self.session) as session:
            return delete_rows(session, ProviderSession, ~self._is_active())

    def _is_active(self) -> ColumnElement[bool]:
        """Return the condition of a link to an active session."""
        model = self.account_model
        since = to_read(model, "tokens_valid_from")
        return (
            select(AccountSession.id)
            .join(model, model.id == AccountSession.account_id)
            .where(
                AccountSession.id == ProviderSession.session_id,
                is_active_session(self.limits, self.clock.now()),
                or_(since.is_(None), AccountSession.created_at >= since),
            )
            .exists()
        )


def reference_of(claims: Values) -> str:
    """Return what names a sign-in at a provider by the claims of its ID token, also after steps
    that store only the claims."""
    return sha256(json.dumps(claims, sort_keys=True).encode()).hexdigest()


def _key(reference: str) -> str:
    return f"idp-sign-in:{reference}"


def _row(session_id: int) -> str:
    """Bind a sealed ID token to its row."""
    return f"provider-session/{session_id}"
