from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt, SecretStr

from ..core.config.field_types import Limit, UrlPath
from .mfa.settings import FactorSettings


class AuthSettings(FactorSettings):
    ACCESS_TOKEN_EXPIRE_MINUTES: PositiveInt = Field(
        default=30, description="Life of an access token."
    )
    AUDIENCE: str | None = Field(
        default=None,
        min_length=1,
        description="Put into tokens as `aud`; one without it, or for others alone, is refused.",
    )
    ISSUER: str | None = Field(
        default=None,
        min_length=1,
        description="Put into tokens as `iss`; one without it, or of another's, is refused.",
    )
    EMAIL_RESET_TOKEN_EXPIRE_HOURS: PositiveInt = Field(
        default=48, description="Life of a reset token."
    )
    RESET_CODE_EXPIRE_MINUTES: PositiveInt = Field(
        default=10, description="Life of a short reset code."
    )
    PASSWORD_RESET_PATH: UrlPath = Field(
        default="/reset", description="Path of the mail's reset link."
    )
    LOGOUT_IS_FINAL: bool = Field(
        default=False, description="On: tokens from before a logout stay dead after the next login."
    )
    RATE_LIMITS_ENABLED: bool = Field(default=True, description="Off: no limit on failures at all.")
    LOGIN_LIMIT: Limit = Field(
        default="5 per 5 minutes", description="Wrong passwords for one account from one address."
    )
    LOGIN_ADDRESS_LIMIT: Limit = Field(
        default="50 per minute", description="Wrong passwords from one address."
    )
    LOGIN_ACCOUNT_LIMIT: Limit = Field(
        default="100 per hour",
        description="Wrong passwords for one account; then only known addresses may still try.",
    )
    RECOVERY_LIMIT: Limit = Field(
        default="5 per 10 minutes", description="Recovery requests for one e-mail address."
    )
    RECOVERY_ADDRESS_LIMIT: Limit = Field(
        default="20 per minute", description="Recovery requests from one address."
    )
    HIDE_ACCOUNTS: bool = Field(
        default=False,
        description="On: a recovery answers unknown addresses as known ones; a mail tells them.",
    )
    ACCOUNT_EXPORTS: Literal["off", "on"] = Field(
        default="off",
        description="Whether accounts may ask for a copy of all that is held of them.",
    )
    EXPORT_KEEP_DAYS: PositiveInt = Field(
        default=7, description="Days for which such a copy can be fetched."
    )
    EXPORT_FOLDER: str = Field(
        default="exports",
        description="Folder for them; a relative one lies under `instance/`. With avatars in a"
        " bucket: what their keys there begin with.",
    )
    REGISTRATION: Literal["closed", "invited", "domains", "open"] = Field(
        default="closed", description="Who may make an account of their own."
    )
    REGISTRATION_DOMAINS: list[str] = Field(
        default=[], description="The domains of `REGISTRATION=domains`."
    )
    REGISTRATION_LIMIT: Limit = Field(
        default="5 per hour", description="Mails to one address that registers."
    )
    REGISTRATION_ADDRESS_LIMIT: Limit = Field(
        default="20 per hour", description="Registrations from one address."
    )
    EMAIL_VERIFICATION: Literal["required", "optional", "off"] = Field(
        default="required", description="Whether who registers must prove the e-mail address."
    )
    EMAIL_TOKEN_EXPIRE_HOURS: PositiveInt = Field(
        default=48, description="Life of a link that proves an address."
    )
    EMAIL_CODE_EXPIRE_MINUTES: PositiveInt = Field(
        default=10, description="Life of a short code that proves an address."
    )
    VERIFICATION_PATH: UrlPath = Field(
        default="/verify", description="Path of the verification link."
    )
    UNVERIFIED_KEEP_DAYS: PositiveInt = Field(
        default=7, description="Days that an account may wait for its address to be proven."
    )
    EMAIL_CHANGE_PATH: UrlPath = Field(
        default="/confirm-email", description="Path of the link to an account's new address."
    )
    EMAIL_CHANGE_LIMIT: Limit = Field(
        default="5 per hour", description="Requests of one account for another address."
    )
    EMAIL_UNDO_PATH: UrlPath = Field(
        default="/undo-email", description="Path of the link to an account's old address."
    )
    EMAIL_UNDO_HOURS: PositiveInt = Field(
        default=72, description="Hours for which the old address can take a change back."
    )
    ACCOUNT_DELETION: Literal["off", "on"] = Field(
        default="off", description="Whether owners may delete their accounts."
    )
    ACCOUNT_DELETION_DAYS: int = Field(
        default=14, ge=0, le=365, description="Days in which they can keep it; 0: it goes at once."
    )
    ACCOUNT_RESTORE_PATH: UrlPath = Field(
        default="/keep-account", description="Path of the link that keeps an account."
    )
    SECURITY_MAILS: bool = Field(
        default=True,
        description="Whether owners are told of a changed password, a new way to sign in, a copy"
        " of their data and a deleted account. Mails with a way back are always sent.",
    )
    ENABLE_IDP_OAUTH: bool = Field(
        default=False, description="Sign-in through an identity provider."
    )
    ALLOW_IDP_OAUTH_SIGNUP: bool = Field(
        default=False, description="Unknown e-mails from the provider may become accounts."
    )
    IDP_OAUTH_CLIENT_ID: str = Field(default="", description="Client id at the identity provider.")
    IDP_OAUTH_CLIENT_SECRET: SecretStr = Field(
        default=SecretStr(""), description="Client secret at the identity provider."
    )
    IDP_REDIRECT_URI: str = Field(
        default="", description="Where the provider sends the browser back to."
    )
    IDP_METADATA_URL: str = Field(
        default="", description="The provider's OpenID discovery document."
    )
    IDP_ALLOWED_REDIRECT_URIS: list[str] = Field(default=[], description="Further redirect URIs.")
    IDP_REQUIRE_SESSION: bool = Field(
        default=True, description="Off: sign-in without cookies, giving up PKCE and nonce."
    )
