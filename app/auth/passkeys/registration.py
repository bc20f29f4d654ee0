from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.clock import Clock
from ...core.db.account_ids import shown
from ...core.db.races import lock_row
from ...core.db.transaction import AnySession, after_commit, transaction
from ...core.errors import QuotaReached
from ...core.records.recorder import Target, record
from ...delivery.mail.one_off import OneOffMail
from ..caller import Caller
from ..errors import InvalidCredentials, ReauthenticationRequired
from ..fresh import Freshness
from ..mfa.models import Authenticator
from .challenges import Challenges, handle_from
from .errors import AddressNotProven, NewPasskeyRefused, PasskeyRefused, PasskeyTaken
from .mails import PasskeyMails
from .options import creation_options
from .relying_party import (
    CREATION,
    TRANSPORTS,
    Created,
    Creation,
    RelyingParty,
    challenge_in,
)
from .rows import Passkeys
from .schemas import as_base64url

MOST = 10
_PURPOSE = "registration"


@dataclass(eq=False)
class PasskeyRegistration:
    session: AnySession
    accounts: Accounts
    passkeys: Passkeys
    challenges: Challenges
    party: RelyingParty
    mails: PasskeyMails
    notices: OneOffMail
    clock: Clock
    freshness: Freshness
    # A second factor is asked for at sign-ins, so that it takes one to add another.
    asks_for_factors: bool

    def options(self, caller: Caller) -> dict[str, Any]:
        """For the browser of an account that has signed in just now."""
        account = caller.account
        self._check(caller)
        present = self.passkeys.of(account.id)
        _check_room(len(present))
        handle = present[0].user_handle if present else None
        challenge = self.challenges.make(*_bound(account, handle))
        handle = handle or handle_from(challenge)
        return creation_options(self.party, account.email, handle, challenge, present)

    def add(self, caller: Caller, name: str, given: Creation) -> Authenticator:
        account = caller.account
        self._check(caller)
        try:
            challenge = challenge_in(given.client_data, CREATION)
            present = self.passkeys.of(account.id)
            handle = present[0].user_handle if present else None
            self.challenges.check(challenge, *_bound(account, handle))
            created = self.party.check_creation(given, challenge)
            self.challenges.spend(challenge)
        except PasskeyRefused as refused:
            raise NewPasskeyRefused(**refused.note) from refused
        with transaction(self.session):
            return self._store(caller, name, given, created, handle, handle_from(challenge))

    def _store(
        self,
        caller: Caller,
        name: str,
        given: Creation,
        created: Created,
        handle: bytes | None,
        new_handle: bytes,
    ) -> Authenticator:
        model, account = self.accounts.model, caller.account
        # Several that come at once come here in turn.
        is_there = lock_row(self.session, model, model.id == account.id)
        now_there = self.accounts.by_id(account.id) if is_there else None
        # What has ended the caller's token in this moment ends its wishes too.
        if now_there is None or now_there.tokens_valid_from != account.tokens_valid_from:
            raise InvalidCredentials
        present = self.passkeys.of(account.id)
        _check_room(len(present))
        if handle is None and present:
            raise NewPasskeyRefused("another_was_first")
        now = self.clock.now()
        passkey = self.passkeys.insert(
            account_id=account.id,
            name=name,
            user_handle=handle or new_handle,
            credential_id=given.id,
            public_key=created.public_key,
            sign_count=created.sign_count,
            aaguid=created.aaguid,
            transports=sorted(TRANSPORTS.intersection(given.transports)),
            backed_up=created.is_backed_up,
            created_at=now,
            confirmed_at=now,
        )
        if passkey is None:
            raise PasskeyTaken
        self._tell(now_there, passkey)
        return passkey

    def _tell(self, account: AccountLike, passkey: Authenticator) -> None:
        target = Target("authenticator", passkey.id)
        record(self.session, "passkey.added", account_id=account.id, target=target)
        mail = self.mails.added(account.email, passkey.name)
        after_commit(self.session, lambda: self.notices.send_soon(mail))

    def _check(self, caller: Caller) -> None:
        if not self.accounts.has_proven_address(caller.account):
            raise AddressNotProven
        has_factor = self.asks_for_factors and self.passkeys.has_any_authenticator(
            caller.account.id
        )
        if not self.freshness.is_fresh(caller, factors=2 if has_factor else 1):
            raise ReauthenticationRequired(round(self.freshness.seconds / 60))


def _check_room(present: int) -> None:
    if present >= MOST:
        raise QuotaReached(f"An account has {MOST} passkeys at the most")


def _bound(account: AccountLike, handle: bytes | None) -> tuple[str, ...]:
    """By which handle the authenticator knows the account is a part of it."""
    return (_PURPOSE, str(shown(account.id)), as_base64url(handle or b""))
