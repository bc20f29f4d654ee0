"""Adding a passkey to an account."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.context import BasicService
from ...core.db.account_ids import serialize_id
from ...core.db.transaction import insert_new, transaction
from ...core.errors import Conflict
from ...core.types import JsonObject
from ..errors import PasskeyRefused
from ..mfa.authenticators import Authenticators
from ..mfa.errors import method_off
from ..mfa.models import PASSKEY_KIND, Authenticator
from ..mfa.policy import Enrollee, lock_unchanged
from ..proof_names import PASSKEY
from ..sign_in.options import SignInOptions
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult
from ..webauthn.relying_party import (
    CREATION,
    TRANSPORTS,
    Creation,
    RelyingParty,
    VerifiedCreation,
    read_challenge,
)
from ..webauthn.schemas import as_base64url
from .challenges import Challenges, creation_options, handle_from
from .rows import Passkeys


class NewPasskeyRefused(PasskeyRefused):
    """`PasskeyRefused` for a new passkey: a failed registration is not a failed sign-in."""

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
    # Only if passkeys are second factors: the new sign-in, and recovery codes with a first factor.
    outcome: SignInResult | Challenge | None = None
    recovery_codes: Sequence[str] | None = None


class _NewPasskey(NamedTuple):
    created: VerifiedCreation
    user_handle: bytes
    is_first: bool


@dataclass(eq=False)
class PasskeyRegistration(BasicService):
    accounts: Accounts
    passkeys: Passkeys
    authenticators: Authenticators
    challenges: Challenges
    party: RelyingParty
    policy: SignInPolicy

    def options(self, enrollee: Enrollee) -> JsonObject:
        """Return the options for a browser that creates a passkey."""
        self._check_method(enrollee)
        account = enrollee.account
        with transaction(self.session):
            self.authenticators.check_limit(account)
            existing = self.passkeys.list(account.id)
        handle = _user_handle(existing)
        challenge = self.challenges.create(*_context(account, handle))
        handle = handle or handle_from(challenge)
        return creation_options(self.party, account.email, handle, challenge, existing)

    def add(
        self, enrollee: Enrollee, name: str, given: Creation, options: SignInOptions
    ) -> AddedPasskey:
        """Add a passkey, and sign in with it if passkeys are second factors.

        In that case every earlier sign-in ends: one of them may be an attacker's.
        """
        self._check_method(enrollee)
        new = self._verify(enrollee.account, given)
        is_factor = PASSKEY_KIND in self.authenticators.requirement.kinds
        with transaction(self.session):
            account = lock_unchanged(self.accounts, enrollee.account)
            self.authenticators.check_limit(account)
            if new.is_first and self.passkeys.list(account.id):
                raise NewPasskeyRefused("another_was_first")
            passkey = self._insert(account, name, given, new)
            codes = self.authenticators.finish_setup(account, passkey)
            if not is_factor:
                return AddedPasskey(passkey)
            self.accounts.end_tokens(account)
            proofs = (*enrollee.proofs, PASSKEY)
            outcome = self.policy.admit(account, proofs, options, reference=enrollee.reference)
            return AddedPasskey(passkey, outcome, codes)

    def _check_method(self, enrollee: Enrollee) -> None:
        """Raise FeatureOff if the sign-in needs a second factor and passkeys cannot be one."""
        if enrollee.proofs and PASSKEY_KIND not in self.authenticators.requirement.methods:
            raise method_off()

    def _verify(self, account: AccountLike, given: Creation) -> _NewPasskey:
        handle = _user_handle(self.passkeys.list(account.id))
        try:
            challenge = read_challenge(given.client_data, CREATION)
            self.challenges.check(challenge, *_context(account, handle))
            created = self.party.check_creation(given, challenge)
            self.challenges.use_up(challenge)
        except PasskeyRefused as refused:
            raise NewPasskeyRefused(**refused.note) from None
        return _NewPasskey(created, handle or handle_from(challenge), is_first=handle is None)

    def _insert(
        self, account: AccountLike, name: str, given: Creation, new: _NewPasskey
    ) -> Authenticator:
        now, created = self.clock.now(), new.created
        passkey = insert_new(
            self.session,
            Authenticator,
            kind=PASSKEY_KIND,
            account_id=account.id,
            name=name,
            user_handle=new.user_handle,
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


def _user_handle(existing: Sequence[Authenticator]) -> bytes | None:
    return existing[0].user_handle if existing else None


def _context(account: AccountLike, user_handle: bytes | None) -> tuple[str, ...]:
    """Return what a challenge is bound to. The user handle is part of it: two requests cannot
    register first passkeys with different handles."""
    return (_PURPOSE, str(serialize_id(account.id)), as_base64url(user_handle or b""))
