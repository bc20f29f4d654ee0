from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt, SecretStr

from ...core.config.field_types import Limit, Origin
from ..sessions.settings import SessionSettings


class FactorSettings(SessionSettings):
    """A part of the namespace AUTH: one-time codes by email, passkeys and second factors."""

    LOGIN_BY_CODE: Literal["off", "on"] = Field(
        default="off", description="Whether users can sign in with a one-time code sent by email."
    )
    LOGIN_CODE_EXPIRE_MINUTES: PositiveInt = Field(
        default=10, description="Minutes for which a one-time code for signing in is valid."
    )
    LOGIN_CODE_LIMIT: Limit = Field(
        default="5 per 10 minutes",
        description="Rate limit on requests for one-time codes, for each email address.",
    )
    PASSKEYS: Literal["off", "on"] = Field(
        default="off",
        description="Whether users can sign in with passkeys. They always can if MFA_METHODS allows"
        " passkeys as second factors.",
    )
    WEBAUTHN_RP_ID: str = Field(
        default="",
        description="The domain that passkeys belong to. Empty: the host of the pages that emails"
        " link to.",
    )
    WEBAUTHN_ORIGINS: list[Origin] = Field(
        default=[],
        description="The origins of the pages that use passkeys. Empty: the origin that emails link"
        " to.",
    )
    MFA: Literal["off", "optional", "required"] = Field(
        default="off",
        description="Multi-factor authentication: off, optional for each account, or required for"
        " all accounts.",
    )
    MFA_REQUIRED_ROLES: list[str] = Field(
        default=[], description="With MFA `optional`: the roles that must have a second factor."
    )
    MFA_METHODS: list[Literal["totp", "passkey"]] = Field(
        default=["totp", "passkey"], description="The authenticators that can be second factors."
    )
    MFA_TRUST_DAYS: NonNegativeInt = Field(
        default=0,
        description="Days for which a trusted device needs no second factor; 0: turned off.",
    )
    FRESH_MINUTES: PositiveInt = Field(
        default=15,
        description="Minutes for which a sign-in is recent enough for sensitive actions.",
    )
    ENCRYPTION_KEYS: list[SecretStr] = Field(
        default=[],
        description="Keys for the secrets of second factors: the first key encrypts, all keys"
        " decrypt. Empty: derived from SECRET_KEY.",
    )

    @property
    def keeps_authenticators(self) -> bool:
        return self.MFA != "off" or self.takes_passkeys

    @property
    def takes_passkeys(self) -> bool:
        return self.PASSKEYS == "on" or (self.MFA != "off" and "passkey" in self.MFA_METHODS)
