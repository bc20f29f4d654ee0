"""Who must have a second factor, and who may set up or change one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.context import service
from ...core.errors import MISSING, REVOKED
from ..caller import find_caller
from ..errors import InactiveCaller, InvalidCredentials
from ..proofs import account_subject
from ..settings import AuthSettings
from ..step_up.service import Freshness
from .errors import UnprovenAddress
from .mfa_tokens import ENROLLMENT, MfaTokens
from .models import PASSKEY_KIND, TOTP_KIND


@dataclass(eq=False)
class Requirement:
    """Who must have a second factor, and which authenticators are second factors."""

    for_everyone: bool
    roles: Collection[str]
    # What can be set up.
    methods: Sequence[str]
    # The methods that are second factors. Includes apps even if no more apps can be set up: without
    # its app, an account would be protected by its password alone.
    kinds: Collection[str]

    @classmethod
    def of(cls, auth: AuthSettings) -> Requirement:
        if auth.MFA == "off":
            return cls(False, (), (), ())
        passkey = {PASSKEY_KIND} & set(auth.MFA_METHODS)
        return cls(
            auth.MFA == "required",
            frozenset(auth.MFA_REQUIRED_ROLES),
            auth.MFA_METHODS,
            {TOTP_KIND, *passkey},
        )

    def applies_to(self, account: AccountLike) -> bool:
        return self.for_everyone or account.role in self.roles


class Enrollee(NamedTuple):
    account: AccountLike
    # The proofs of the sign-in that the enrollment continues; empty for a signed-in caller.
    proofs: tuple[str, ...] = ()
    # Names the sign-in at an identity provider that the enrollment continues.
    reference: str = ""


def find_enrollee(mfa_token: str | None) -> Enrollee:
    """Return who may set up an authenticator in this request.

    A caller needs a recent sign-in, with a second factor if the account has one. An `mfa_token` is
    for a sign-in that is incomplete until a second factor is set up.
    """
    caller, accounts = find_caller(), service(Accounts)
    if caller is not None:
        if not accounts.is_active(caller.account):
            raise InactiveCaller
        service(Freshness).require_with_factor(caller)
        enrollee = Enrollee(caller.attached_account)
    elif mfa_token is not None:
        first = service(MfaTokens).read(ENROLLMENT, mfa_token)
        enrollee = Enrollee(first.account, first.proofs, first.reference)
    else:
        raise InvalidCredentials(reason=MISSING, note={"reason": "no_credential"})
    if not accounts.is_email_verified(enrollee.account):
        # A registration with another person's address would lock that person out.
        raise UnprovenAddress
    return enrollee


def lock_unchanged(accounts: Accounts, account: AccountLike) -> AccountLike:
    """Lock the account until the end of the transaction, so that its factors change one at a time.

    Raise InvalidCredentials if its tokens were ended after this request was authenticated.
    """
    state = account_subject(account).state
    locked = accounts.lock(account.id)
    if locked is None or account_subject(locked).state != state:
        raise InvalidCredentials(reason=REVOKED)
    return locked
