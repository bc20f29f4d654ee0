from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt, SecretStr

from ...core.config.field_types import Limit, Origin
from ..sessions.settings import SessionSettings


class FactorSettings(SessionSettings):
    """A part of the namespace AUTH: one-time codes by email, passkeys and second factors."""

    LOGIN_BY_CODE: Literal["off", "on"] = Field(
        default="off", description="Let users sign in with a one-time code sent by email."
    )
    LOGIN_CODE_EXPIRE_MINUTES: PositiveInt = Field(
        default=10, description="Minutes for which a one-time code for sign-in is valid."
    )
    LOGIN_CODE_LIMIT: Limit = Field(
        default="5 per 10 minutes",
        description="Rate limit of one-time codes for sign-in, for each email address.",
    )
    PASSKEYS: Literal["off", "on"] = Field(
        default="off",
        description="Let users sign in with passkeys. Passkeys are always available if"
        " `AUTH__MFA_METHODS` includes them and `AUTH__MFA` is not `off`.",
    )
    WEBAUTHN_RP_ID: str = Field(
        default="",
        description="Domain for which passkeys are created. If empty, the host of the pages"
        " that emails link to. Example: `example.com`.",
    )
    WEBAUTHN_ORIGINS: list[Origin] = Field(
        default=[],
        description="Origins of the pages that use passkeys. If empty, the origin of the pages"
        ' that emails link to. Example: `["https://app.example.com"]`.',
    )
    MFA: Literal["off", "optional", "required"] = Field(
        default="off",
        description="Multi-factor authentication (MFA): off, optional for each account, or"
        " required for all accounts.",
    )
    MFA_REQUIRED_ROLES: list[str] = Field(
        default=[],
        description='Roles that must use MFA when `AUTH__MFA` is `optional`. Example: `["root",'
        ' "admin"]`.',
    )
    MFA_METHODS: list[Literal["totp", "passkey"]] = Field(
        default=["totp", "passkey"], description="MFA methods that users can set up."
    )
    MFA_TRUST_DAYS: NonNegativeInt = Field(
        default=0,
        description="Days for which a trusted device is not asked for MFA. `0` disables trusted"
        " devices.",
    )
    FRESH_MINUTES: PositiveInt = Field(
        default=15,
        description="Minutes after a sign-in in which sensitive actions need no re-authentication.",
    )
    ENCRYPTION_KEYS: list[SecretStr] = Field(
        default=[],
        description="Keys that encrypt the secrets of authenticator apps. The first key"
        " encrypts, all keys decrypt. If empty, the key is derived from"
        " `SECRET_KEY`.",
    )

    @property
    def keeps_authenticators(self) -> bool:
        return self.MFA != "off" or self.takes_passkeys

    @property
    def takes_passkeys(self) -> bool:
        return self.PASSKEYS == "on" or (self.MFA != "off" and "passkey" in self.MFA_METHODS)
