from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt, SecretStr

from ...core.config.field_types import Limit, Origin
from ..sessions.settings import SessionSettings


class FactorSettings(SessionSettings):
    """A part of the namespace AUTH: other ways in than a password, and what is asked beside it."""

    LOGIN_BY_CODE: Literal["off", "on"] = Field(
        default="off", description="Whether a code that is mailed signs in."
    )
    LOGIN_CODE_EXPIRE_MINUTES: PositiveInt = Field(
        default=10, description="Life of a code that signs in."
    )
    LOGIN_CODE_LIMIT: Limit = Field(
        default="5 per 10 minutes", description="Requests of one address for such a code."
    )
    PASSKEYS: Literal["off", "on"] = Field(
        default="off",
        description="Whether passkeys sign in; they do too where they may be a second factor.",
    )
    WEBAUTHN_RP_ID: str = Field(
        default="",
        description="The domain that passkeys belong to; empty: the host of the pages"
        " that mails link to.",
    )
    WEBAUTHN_ORIGINS: list[Origin] = Field(
        default=[],
        description="Where the pages that ask for passkeys are; empty: where mails link to.",
    )
    MFA: Literal["off", "optional", "required"] = Field(
        default="off",
        description="A second factor: off, for accounts that set one up, or for all of them.",
    )
    MFA_REQUIRED_ROLES: list[str] = Field(
        default=[], description="With MFA `optional`: the roles that must have one."
    )
    MFA_METHODS: list[Literal["totp", "passkey"]] = Field(
        default=["totp", "passkey"], description="What may be one."
    )
    MFA_TRUST_DAYS: NonNegativeInt = Field(
        default=0, description="Days in which a trusted device is not asked for one; 0: none is."
    )
    FRESH_MINUTES: PositiveInt = Field(
        default=15, description="How old a sign-in may be for what is dangerous."
    )
    ENCRYPTION_KEYS: list[SecretStr] = Field(
        default=[],
        description="Encrypt the secrets of second factors: the first one does, all decrypt."
        " Empty: made of SECRET_KEY.",
    )

    @property
    def keeps_authenticators(self) -> bool:
        return self.MFA != "off" or self.takes_passkeys

    @property
    def takes_passkeys(self) -> bool:
        return self.PASSKEYS == "on" or (self.MFA != "off" and "passkey" in self.MFA_METHODS)
