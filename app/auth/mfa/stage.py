"""The gate's question for a second factor, whichever way somebody comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.db.transaction import AnySession
from ...core.errors import Problem
from ...core.keystore import KeystoreUnavailable
from ...core.origin import current_origin
from ...core.records.recorder import record
from ..errors import TooManyAttempts
from ..sign_in.gate import Challenge, SignIn
from ..sign_in.proof import DEVICE
from .devices import TrustedDevices
from .errors import EnrolmentRequired, SecondFactorRequired, SecretUnreadable, WrongFactor
from .factors import SecondFactors
from .mfa_tokens import ANSWERING, ENROLLING, MfaTokens
from .models import TOTP_KIND
from .requirement import Requirement


@dataclass(eq=False)
class FactorStage:
    session: AnySession
    second_factors: SecondFactors
    devices: TrustedDevices
    tokens: MfaTokens
    requirement: Requirement
    answers: ClassVar[tuple[type[Problem], ...]] = (
        SecondFactorRequired,
        EnrolmentRequired,
        WrongFactor,
        TooManyAttempts,
        SecretUnreadable,
        KeystoreUnavailable,
    )

    def __call__(self, sign_in: SignIn) -> Challenge | None:
        if sign_in.has_factor:
            return None
        account = sign_in.account
        methods = self.second_factors.methods(account.id)
        if not methods:
            return self._enrolment(sign_in) if self.requirement.holds_for(account) else None
        entrance = sign_in.entrance
        if entrance.device and self.devices.knows(account, entrance.device):
            sign_in.by = (*sign_in.by, DEVICE)
            return None
        if entrance.otp is not None:
            address = current_origin().address or ""
            try:
                proof = self.second_factors.check(account, TOTP_KIND, entrance.otp, address)
            except Problem as problem:
                return Challenge(problem)
            sign_in.by = (*sign_in.by, proof)
            return None
        return self._challenge(sign_in, methods)

    def _challenge(self, sign_in: SignIn, methods: list[str]) -> Challenge:
        token = self.tokens.issue(ANSWERING, sign_in.account, sign_in.by)
        record(self.session, "login.challenged", account_id=sign_in.account.id, proofs=sign_in.by)
        return Challenge(SecondFactorRequired(members={"mfa_token": token, "methods": methods}))

    def _enrolment(self, sign_in: SignIn) -> Challenge:
        token = self.tokens.issue(ENROLLING, sign_in.account, sign_in.by)
        methods = list(self.requirement.methods)
        return Challenge(EnrolmentRequired(members={"mfa_token": token, "methods": methods}))
