from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ...accounts.models import AccountLike
from ..settings import AuthSettings
from .models import PASSKEY_KIND, TOTP_KIND


@dataclass(eq=False)
class Requirement:
    """Who must have a second factor, and what counts as one."""

    everybody: bool
    roles: Collection[str]
    # What may be set up.
    methods: Sequence[str]
    # The authenticators that are asked for beside another proof. An app that somebody has counts
    # also where no more of them may be set up: without it a password alone would do.
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

    def holds_for(self, account: AccountLike) -> bool:
        return self.everybody or account.role in self.roles
