"""Second factors at sign-in and at re-authentication."""

from dataclasses import dataclass

from ...core.context import report_action
from ...core.db.transaction import AnySession, transaction
from ...core.errors import Problem
from ...core.keystore import KeystoreUnavailable
from ..actions import LOGIN_CHALLENGED
from ..caller import Caller
from ..errors import TooManyAttempts
from ..proof_names import DEVICE
from ..sign_in.options import SignInOptions, note_proof, sign_in_by
from ..sign_in.policy import Challenge, SignIn, SignInPolicy, SignInResult
from ..step_up.service import StepUpMethod
from .devices import TrustedDevices
from .errors import EnrolmentRequired, SecondFactorRequired, SecretUnreadable, WrongFactor
from .factors import SecondFactors
from .mfa_tokens import CHALLENGE, ENROLLMENT, MfaTokens
from .models import TOTP_KIND
from .policy import Requirement
from .schemas import FACTOR_FIELDS

STAGE_REFUSALS = (
    SecondFactorRequired,
    EnrolmentRequired,
    WrongFactor,
    TooManyAttempts,
    SecretUnreadable,
    KeystoreUnavailable,
)


@dataclass(eq=False)
class FactorStage:
    """The stage of the sign-in policy that requires a second factor."""

    session: AnySession
    second_factors: SecondFactors
    devices: TrustedDevices
    tokens: MfaTokens
    requirement: Requirement

    def __call__(self, sign_in: SignIn) -> Challenge | None:
        if sign_in.has_factor:
            return None
        account = sign_in.account
        methods = self.second_factors.methods(account.id)
        if not methods:
            return self._enrollment(sign_in) if self.requirement.applies_to(account) else None
        options = sign_in.options
        if options.device and self.devices.is_trusted(account, options.device):
            sign_in.by = (*sign_in.by, DEVICE)
            return None
        if options.otp is not None:
            try:
                proof = self.second_factors.check(account, TOTP_KIND, options.otp, options)
            except Problem as problem:
                return Challenge(note_proof(problem, sign_in.by[0]))
            sign_in.by = (*sign_in.by, proof)
            return None
        return self._challenge(sign_in, methods)

    def _challenge(self, sign_in: SignIn, methods: list[str]) -> Challenge:
        token = self.tokens.issue(CHALLENGE, sign_in)
        report_action(
            self.session, LOGIN_CHALLENGED, account_id=sign_in.account.id, proofs=sign_in.by
        )
        return Challenge(SecondFactorRequired(members={"mfa_token": token, "methods": methods}))

    def _enrollment(self, sign_in: SignIn) -> Challenge:
        token = self.tokens.issue(ENROLLMENT, sign_in)
        methods = list(self.requirement.methods)
        return Challenge(EnrolmentRequired(members={"mfa_token": token, "methods": methods}))


@dataclass(eq=False)
class SecondStep:
    session: AnySession
    tokens: MfaTokens
    second_factors: SecondFactors
    devices: TrustedDevices
    policy: SignInPolicy

    def finish(
        self,
        mfa_token: str,
        kind: str,
        value: object,
        options: SignInOptions,
        *,
        trust: bool = False,
    ) -> SignInResult | Challenge:
        """Sign in by the first proof and a second factor. Of several requests with one token, one
        succeeds."""
        first = self.tokens.read(CHALLENGE, mfa_token)
        # One sign-in: its first proof counts.
        rejected = sign_in_by(first.proofs[0])
        with rejected, self.tokens.limit_tries(first), transaction(self.session):
            proof = self.second_factors.check(first.account, kind, value, options)
            self.tokens.use_up(first)
            outcome = self.policy.admit(
                first.account, (*first.proofs, proof), options, reference=first.reference
            )
            if isinstance(outcome, Challenge) or not (trust and self.devices.days):
                return outcome
            trusted = {"trusted_device": self.devices.trust(first.account)}
            return outcome._replace(payload={**outcome.payload, **trusted})


def step_up_methods(factors: SecondFactors) -> dict[str, StepUpMethod]:
    """Return the methods of re-authentication by a code. Passkeys need a challenge first."""
    return {field: _by(factors, FACTOR_FIELDS[field]) for field in ("otp", "recovery_code")}


def _by(factors: SecondFactors, kind: str) -> StepUpMethod:
    def check(caller: Caller, value: object, options: SignInOptions) -> str:
        return factors.check(caller.attached_account, kind, value, options)

    return check
