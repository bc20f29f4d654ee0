"""Adding a passkey to an account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.context import BasicService
from ...core.db.account_ids import serialize_id
from ...core.db.transaction import transaction
from ...core.errors import Conflict
from ...core.types import JsonObject
from ..errors import PasskeyRefused
from ..mfa.authenticators import Authenticators
from ..mfa.errors import FactorsOff
from ..mfa.models import PASSKEY_KIND, Authenticator
from ..mfa.policy import Enrolling, hold
from ..sign_in.options import PASSKEY, SignInOptions
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult
from .challenges import Challenges, creation_options, handle_from
from .relying_party import (
    CREATION,
    TRANSPORTS,
    Creation,
    RelyingParty,
    VerifiedCreation,
    challenge_in,
)
from .rows import Passkeys
from .schemas import as_base64url


class NewPasskeyRefused(PasskeyRefused):
    """As `PasskeyRefused`, for a passkey to be added: it is no failed sign-in."""

    security_event = "factor_change"
    cause = (
        "The response of the passkey to be added is invalid, or its challenge is expired or"
        " already used. The log has the reason."
    )
    fix = "Request new registration options and try again."


class PasskeyTaken(Conflict):
    code = "passkey_exists"
    detail = "This passkey is registered already"
    title = "The passkey is already registered"
    cause = "An account has this passkey already."
    fix = "Use the registered passkey, or create a passkey on another device."


_PURPOSE = "registration"


class AddedPasskey(NamedTuple):
    passkey: Authenticator
    # If passkeys are second factors: the new sign-in, and recovery codes with the first factor.
    outcome: SignInResult | Challenge | None = None
    recovery_codes: Sequence[str] | None = None


class _Proved(NamedTuple):
    created: VerifiedCreation
    handle: bytes
    is_first: bool


@dataclass(eq=False)
class PasskeyRegistration(BasicService):
    accounts: Accounts
    passkeys: Passkeys
    authenticators: Authenticators
    challenges: Challenges
    party: RelyingParty
    policy: SignInPolicy

    def options(self, who: Enrolling) -> JsonObject:
        """For the browser of who may add one."""
        self._check(who)
        account = who.account
        with transaction(self.session):
            self.authenticators.make_room(account)
            present = self.passkeys.of(account.id)
        handle = _handle_of(present)
        challenge = self.challenges.make(*_bound(account, handle))
        handle = handle or handle_from(challenge)
        return creation_options(self.party, account.email, handle, challenge, present)

    def add(
        self, who: Enrolling, name: str, given: Creation, options: SignInOptions
    ) -> AddedPasskey:
        """Where it is a second factor, every sign-in from before ends, as with another one: any of
        them may be somebody else's. Who has made it has shown it by that, and is signed in anew."""
        self._check(who)
        proved = self._prove(who.account, given)
        is_factor = PASSKEY_KIND in self.authenticators.requirement.kinds
        with transaction(self.session):
            account = hold(self.accounts, who.account)
            self.authenticators.make_room(account)
            if proved.is_first and self.passkeys.of(account.id):
                raise NewPasskeyRefused("another_was_first")
            passkey = self._insert(account, name, given, proved)
            codes = self.authenticators.added(account, passkey)
            if not is_factor:
                return AddedPasskey(passkey)
            self.accounts.end_tokens(account)
            outcome = self.policy.admit(account, (*who.by, PASSKEY), options)
            return AddedPasskey(passkey, outcome, codes)

    def _check(self, who: Enrolling) -> None:
        """Who must have a factor first comes no further by what is none."""
        if who.by and PASSKEY_KIND not in self.authenticators.requirement.methods:
            raise FactorsOff

    def _prove(self, account: AccountLike, given: Creation) -> _Proved:
        handle = _handle_of(self.passkeys.of(account.id))
        try:
            challenge = challenge_in(given.client_data, CREATION)
            self.challenges.check(challenge, *_bound(account, handle))
            created = self.party.check_creation(given, challenge)
            self.challenges.spend(challenge)
        except PasskeyRefused as refused:
            raise NewPasskeyRefused(**refused.note) from None
        return _Proved(created, handle or handle_from(challenge), handle is None)

    def _insert(
        self, account: AccountLike, name: str, given: Creation, proved: _Proved
    ) -> Authenticator:
        now, created = self.clock.now(), proved.created
        passkey = self.passkeys.insert(
            account_id=account.id,
            name=name,
            user_handle=proved.handle,
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
        return passkey


def _handle_of(present: Sequence[Authenticator]) -> bytes | None:
    return present[0].user_handle if present else None


def _bound(account: AccountLike, handle: bytes | None) -> tuple[str, ...]:
    """By which handle the authenticator knows the account is a part of it."""
    return (_PURPOSE, str(serialize_id(account.id)), as_base64url(handle or b""))
