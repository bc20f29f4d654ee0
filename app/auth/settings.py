from typing import Annotated, Literal

from pydantic import Field, PlainValidator, PositiveInt, SecretStr

from ..core.config.field_types import Limit, MountPath, UrlPath
from .idp.provider import LinkingMode, Provider
from .mfa.settings import FactorSettings


def _read_providers(given: object) -> dict[str, Provider]:
    if given == {}:
        return {}
    # Imported here, because few applications have identity providers.
    from .idp.provider_settings import read_providers

    return read_providers(given)


class AuthSettings(FactorSettings):
    """Settings of accounts and sign-in, the namespace AUTH."""

    ACCESS_TOKEN_EXPIRE_MINUTES: PositiveInt = Field(
        default=30, description="Minutes for which an access token is valid."
    )
    AUDIENCE: str | None = Field(
        default=None,
        min_length=1,
        description="Audience (`aud`) of access tokens. If set, tokens without this audience"
        " are rejected. Example: `api.example.com`.",
    )
    ISSUER: str | None = Field(
        default=None,
        min_length=1,
        description="Issuer (`iss`) of access tokens. If set, tokens without this issuer are"
        " rejected. Example: `https://api.example.com`.",
    )
    SIGNING_KEYS: SecretStr = Field(
        default=SecretStr(""), description="JWK set, or its file, that signs access tokens."
    )
    ACCEPT_HS256: bool = Field(
        default=True, description="With `AUTH__SIGNING_KEYS`, accept HS256 too."
    )
    EMAIL_RESET_TOKEN_EXPIRE_HOURS: PositiveInt = Field(
        default=48, description="Hours for which the link in a password-reset email is valid."
    )
    RESET_CODE_EXPIRE_MINUTES: PositiveInt = Field(
        default=10,
        description="Minutes for which the short code in a password-reset email is valid.",
    )
    PASSWORD_RECOVERY_PATH: UrlPath = Field(
        default="/forgot",
        description="Path of the page where users request a password reset. The email about a"
        " changed password links to it.",
    )
    PASSWORD_RESET_PATH: UrlPath = Field(
        default="/reset",
        description="Path of the page that the link in a password-reset email opens.",
    )
    SIGN_IN_LINK_PATH: UrlPath = Field(
        default="/sign-in/link",
        description="Path of the page for links of `flask accounts sign-in-link`.",
    )
    PERSONAL_TOKENS: Literal["off", "on"] = Field(
        default="off", description="Allow tokens for programs."
    )
    PERSONAL_TOKEN_LIMIT: PositiveInt = Field(
        default=600, description="Requests per minute of each token."
    )
    LOGOUT_IS_FINAL: bool = Field(
        default=False,
        description="Keep access tokens that were issued before a sign-out revoked after the"
        " next sign-in.",
    )
    RATE_LIMITS_ENABLED: bool = Field(
        default=True,
        description="Apply rate limits to failed sign-ins, codes and emails. If `false`,"
        " nothing protects against brute-force attacks.",
    )
    LOGIN_LIMIT: Limit = Field(
        default="5 per 5 minutes",
        description="Rate limit of wrong passwords for one account from one IP address.",
    )
    LOGIN_ADDRESS_LIMIT: Limit = Field(
        default="50 per minute",
        description="Rate limit of wrong passwords from one IP address, for all accounts.",
    )
    LOGIN_ACCOUNT_LIMIT: Limit = Field(
        default="100 per hour",
        description="Rate limit of wrong passwords for one account from all IP addresses. Above"
        " the limit, only IP addresses of earlier sign-ins can sign in.",
    )
    RECOVERY_LIMIT: Limit = Field(
        default="5 per 10 minutes",
        description="Rate limit of password-reset emails to one email address.",
    )
    RECOVERY_ADDRESS_LIMIT: Limit = Field(
        default="20 per minute",
        description="Rate limit of password-reset requests from one IP address.",
    )
    HIDE_ACCOUNTS: bool = Field(
        default=False,
        description="Respond to a password reset for an unknown email address as for a known"
        " one, and send an email that says so. If `false`, the response is 404.",
    )
    ACCOUNT_EXPORTS: Literal["off", "on"] = Field(
        default="off", description="Let users request an export of their personal data."
    )
    EXPORT_KEEP_DAYS: PositiveInt = Field(
        default=7, description="Days for which users can download a data export."
    )
    EXPORT_FOLDER: str = Field(
        default="exports",
        description="Folder for data exports. A relative path is below `instance/`. With"
        " avatars in a bucket, the prefix of the keys in that bucket.",
    )
    REGISTRATION: Literal["closed", "invited", "domains", "open"] = Field(
        default="closed",
        description="Who can sign up: no one, invited email addresses, email addresses of"
        " `AUTH__REGISTRATION_DOMAINS`, or everyone.",
    )
    REGISTRATION_DOMAINS: list[str] = Field(
        default=[],
        description="Email domains that can sign up when `AUTH__REGISTRATION` is `domains`."
        ' Example: `["example.com"]`.',
    )
    REGISTRATION_LIMIT: Limit = Field(
        default="5 per hour", description="Rate limit of registration emails to one email address."
    )
    REGISTRATION_ADDRESS_LIMIT: Limit = Field(
        default="20 per hour", description="Rate limit of sign-ups from one IP address."
    )
    EMAIL_VERIFICATION: Literal["required", "optional", "off"] = Field(
        default="required",
        description="Whether a new account must verify its email address before the first sign-in.",
    )
    EMAIL_TOKEN_EXPIRE_HOURS: PositiveInt = Field(
        default=48, description="Hours for which the link in a verification email is valid."
    )
    EMAIL_CODE_EXPIRE_MINUTES: PositiveInt = Field(
        default=10, description="Minutes for which the short code in a verification email is valid."
    )
    VERIFICATION_PATH: UrlPath = Field(
        default="/verify",
        description="Path of the page that the link in a verification email opens.",
    )
    UNVERIFIED_KEEP_DAYS: PositiveInt = Field(
        default=7,
        description="Days after which an account with an unverified email address is deleted.",
    )
    EMAIL_CHANGE_PATH: UrlPath = Field(
        default="/confirm-email",
        description="Path of the page that the link to the new email address opens.",
    )
    EMAIL_CHANGE_LIMIT: Limit = Field(
        default="5 per hour",
        description="Rate limit of requests for a change of email address, for each account.",
    )
    EMAIL_UNDO_PATH: UrlPath = Field(
        default="/undo-email",
        description="Path of the page that the link to the previous email address opens.",
    )
    EMAIL_UNDO_HOURS: PositiveInt = Field(
        default=72, description="Hours for which the previous email address can undo a change."
    )
    ACCOUNT_DELETION: Literal["off", "on"] = Field(
        default="off", description="Let users delete their accounts."
    )
    ACCOUNT_DELETION_DAYS: int = Field(
        default=14,
        ge=0,
        le=365,
        description="Days of the grace period, in which a user can restore a deleted account."
        " `0` deletes immediately.",
    )
    ACCOUNT_RESTORE_PATH: UrlPath = Field(
        default="/keep-account",
        description="Path of the page that the link in an account-deletion email opens.",
    )
    SECURITY_MAILS: bool = Field(
        default=True,
        description="Send emails about a changed password, a new sign-in method, a data export"
        " and a deleted account. Emails with an undo link are always sent.",
    )
    ENABLE_IDP_OAUTH: bool = Field(
        default=False, description="Let users sign in with an OpenID Connect identity provider."
    )
    ALLOW_IDP_OAUTH_SIGNUP: bool = Field(
        default=False,
        description="Create accounts for unknown email addresses from the identity provider.",
    )
    IDP_OAUTH_CLIENT_ID: str = Field(default="", description="Client ID at the identity provider.")
    IDP_OAUTH_CLIENT_SECRET: SecretStr = Field(
        default=SecretStr(""), description="Client secret at the identity provider."
    )
    IDP_REDIRECT_URI: str = Field(
        default="",
        description="URL to which the identity provider returns the browser. Example:"
        " `https://app.example.com/signed-in`.",
    )
    IDP_METADATA_URL: str = Field(
        default="",
        description="URL of the identity provider's discovery document. Example:"
        " `https://accounts.google.com/.well-known/openid-configuration`.",
    )
    IDP_ISSUER: str = Field(
        default="",
        description="Issuer that the identity provider's discovery document must name. Default:"
        " `IDP_METADATA_URL` without `/.well-known/openid-configuration`. Required if the document"
        " has `{tenantid}`.",
    )
    IDP_ALLOWED_REDIRECT_URIS: list[str] = Field(
        default=[],
        description="Allowed redirect URIs besides `IDP_REDIRECT_URI` and the origin of"
        " `CORE__CLIENT_HOST`.",
    )
    IDP_REQUIRE_SESSION: bool = Field(
        default=True,
        description="Require the session cookie of the browser that started the sign-in. If"
        " `false`, the sign-in works without cookies, PKCE and nonce.",
    )
    IDP_LINKING: LinkingMode = Field(default="auto", description="Link accounts by email address.")
    PROVIDERS: Annotated[dict[str, Provider], PlainValidator(_read_providers)] = Field(
        default={}, description="Identity providers by name."
    )

    POST_LOGOUT_PATH: MountPath | None = Field(
        default=None, description="Page after sign-out at the provider."
    )

    @property
    def has_providers(self) -> bool:
        return self.ENABLE_IDP_OAUTH or bool(self.PROVIDERS)
