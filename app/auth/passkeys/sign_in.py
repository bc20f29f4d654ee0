"""Passkeys at sign-in, as a second factor, and at re-authentication."""

from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.actions import Target
from ...core.clock import Clock
from ...core.coded_messages import CodedMessage
from ...core.context import report_action
from ...core.db.account_ids import serialize_id
from ...core.db.transaction import (
    AnySession,
    after_rollback,
    is_in_use,
    is_open,
    release,
    transaction,
    write_last,
)
from ...core.errors import Invalid
from ...core.types import AccountKey, JsonObject, Values
from ...core.web.request_data import schema_instance
from ..actions import PASSKEY_SUSPECTED
from ..caller import Caller
from ..errors import PasskeyRefused
from ..mfa.mfa_tokens import CHALLENGE, MfaTokens
from ..mfa.notices import FactorNotices
from ..proof_names import PASSKEY
from ..sign_in.options import SignInOptions, sign_in_by
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult
from ..step_up.service import StepUpMethod
from ..webauthn.relying_party import ASSERTION, Assertion, RelyingParty, read_challenge
from ..webauthn.schemas import AssertedCredential
from .challenges import Challenges, request_options
from .rows import Passkeys, PasskeyUse, StoredPasskey, note_uses

# The purposes of a challenge.
SIGN_IN = "sign-in"
SECOND_FACTOR = "second-factor"
STEP_UP = "step-up"
# The shortest time between two emails about a passkey that may have a copy.
NOTICE_SECONDS = 3600


@dataclass(eq=False)
class PasskeyProofs:
    """Verification of passkeys: at sign-in, as a second factor and at re-authentication."""

    session: AnySession
    accounts: Accounts
    passkeys: Passkeys
    challenges: Challenges
    party: RelyingParty
    notices: FactorNotices
    clock: Clock

    def options(self, purpose: str, account_id: AccountKey | None = None) -> JsonObject:
        """Return the options for a browser. Without an account, every client gets the same options,
        and the passkey identifies the account."""
        challenge = self.challenges.create(*_context(purpose, account_id))
        allowed = () if account_id is None else self.passkeys.list(account_id)
        return request_options(self.party, challenge, allowed)

    def check(
        self, given: Assertion, purpose: str, account_id: AccountKey | None = None
    ) -> AccountLike:
        """Return the passkey's account, the given one if any; raise PasskeyRefused otherwise."""
        use = self.verify(given, purpose, account_id)
        with transaction(self.session):
            return self.accept(use)

    def verify(
        self, given: Assertion, purpose: str, account_id: AccountKey | None = None
    ) -> PasskeyUse:
        """Verify the signature and use the challenge up; raise PasskeyRefused otherwise."""
        # The application may be using the session, which is then not released.
        in_use = is_open(self.session) or is_in_use(self.session)
        challenge = read_challenge(given.client_data, ASSERTION)
        self.challenges.check(challenge, *_context(purpose, account_id))
        passkey = self._find(given, account_id)
        assertion = self.party.check_assertion(given, challenge, passkey.public_key)
        if not in_use:
            # The state store may wait for the database: hold no connection.
            release(self.session)
        self.challenges.use_up(challenge)
        return PasskeyUse(passkey, assertion, self.clock.now())

    def accept(self, use: PasskeyUse) -> AccountLike:
        """Return the account, and record the use at the end of the open transaction."""
        account = self.accounts.by_id(use.passkey.account_id)
        if account is None:
            raise PasskeyRefused("unknown")
        if use.has_copy:
            self._suspect(account, use.passkey)
            raise PasskeyRefused("count_went_back", account_id=account.id)
        write_last(self.session, note_uses, use)
        return account

    def check_factor(self, account: AccountLike, given: Any) -> str:
        """Check a passkey as a second factor, for the challenge of its `mfa_token`."""
        self.check(given, SECOND_FACTOR, account.id)
        return PASSKEY

    def _find(self, given: Assertion, account_id: AccountKey | None) -> StoredPasskey:
        passkey = self.passkeys.find(given.id)
        if passkey is None:
            raise PasskeyRefused("unknown")
        if account_id is not None and passkey.account_id != account_id:
            raise PasskeyRefused("another_account")
        # Passkeys may omit the user handle if the options list their ids.
        if given.user_handle != passkey.user_handle and (
            account_id is None or given.user_handle is not None
        ):
            raise PasskeyRefused("another_handle")
        return passkey

    def _suspect(self, account: AccountLike, passkey: StoredPasskey) -> None:
        """Record and email that a passkey may have a copy, after the refusal has rolled back."""
        account_id, email = account.id, account.email

        def report() -> None:
            # The holder of a copy may try for hours.
            is_first = self.challenges.keystore.add(
                f"passkey-suspected:{passkey.id}", "1", NOTICE_SECONDS
            )
            with transaction(self.session) as session:
                target = Target("authenticator", passkey.id)
                report_action(session, PASSKEY_SUSPECTED, account_id=account_id, target=target)
                if is_first:
                    self.notices.passkey_suspected(email, passkey.name)

        after_rollback(self.session, report)


def _context(purpose: str, account_id: AccountKey | None) -> tuple[str, ...]:
    return (purpose,) if account_id is None else (purpose, str(serialize_id(account_id)))


@dataclass(eq=False)
class PasskeyLogin:
    session: AnySession
    proofs: PasskeyProofs
    tokens: MfaTokens
    policy: SignInPolicy

    def options(self, mfa_token: str | None) -> JsonObject:
        """Return the options to sign in, or to show a second factor with an `mfa_token`."""
        if mfa_token is None:
            return self.proofs.options(SIGN_IN)
        first = self.tokens.read(CHALLENGE, mfa_token)
        return self.proofs.options(SECOND_FACTOR, first.account.id)

    @sign_in_by(PASSKEY)
    def sign_in(self, given: Assertion, options: SignInOptions) -> SignInResult | Challenge:
        """Sign in with a passkey, which is two factors by itself."""
        use = self.proofs.verify(given, SIGN_IN)
        with transaction(self.session):
            return self.policy.admit(self.proofs.accept(use), (PASSKEY,), options)


def step_up_by_passkey(proofs: PasskeyProofs) -> StepUpMethod:
    """Return the method of re-authentication by one of the caller's passkeys."""

    def check(caller: Caller, given: Values, _: SignInOptions) -> str:
        try:
            credential = schema_instance(AssertedCredential).load(given)
        except ValidationError:
            # The route exists without passkeys too, so its schema does not check credentials.
            message = CodedMessage(
                "Not the credential of a passkey.", "invalid_format", expected="credential"
            )
            raise Invalid.about("credential", message) from None
        proofs.check(credential, STEP_UP, caller.account.id)
        return PASSKEY

    return check
