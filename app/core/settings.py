"""Settings, in two ways of writing them.

Composed: `class Settings(ComposedSettings)` has the namespaces as fields and reads
`CORE__PROJECT_NAME` from the environment. Subclassed: `class Settings(CoreSettings, AuthSettings,
BaseSettings)` reads the flat `PROJECT_NAME`. The code below reads `Namespaces`, which is made of
either. The secret key and the SMS settings are read from the top level in both.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from .environment import SettingsError as SettingsError
from .environment import load as load
from .setting_kinds import DatabaseUrl, Limit, Origin, UrlPath


class _Namespace(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, validate_default=True)


class CoreSettings(_Namespace):
    PROJECT_NAME: str = Field("Frontdesk", description="The name shown by `/health` and in mails.")
    API_V1_STR: UrlPath = Field("/api/v1", description="The prefix of every route.")
    CLIENT_HOST: Origin = Field(
        "http://localhost:3000",
        description="Origin of the client: mail links lead there and CORS lets it in.",
    )
    PUBLIC_URL: Origin | None = Field(
        None,
        description="The service's own address, https://api.example.com: avatars' URLs begin so.",
    )
    CORS_ORIGINS: list[Origin] = Field([], description="Further origins that CORS lets in.")
    SECRET_KEY: SecretStr | None = Field(
        None, description="Signs the tokens. Unset: made anew at each start, with a warning."
    )
    SECRET_KEY_FALLBACKS: list[SecretStr] = Field(
        [], description="Former secret keys whose tokens are still accepted."
    )
    DATABASE_URL: DatabaseUrl = Field(
        SecretStr("sqlite:///frontdesk.db"),
        description="SQLAlchemy URL; a relative SQLite path lies under `instance/`.",
    )
    DATABASE_POOL_SIZE: PositiveInt = Field(
        16, description="Connections to PostgreSQL that one process may hold."
    )
    KEYSTORE: Literal["auto", "memory", "redis", "database"] = Field(
        "auto", description="Where revocations and codes are kept; auto is Redis where configured."
    )
    REDIS_URL: SecretStr | None = Field(None, description="Redis for the keystore, as a URL.")
    REDIS_HOST: str | None = Field(None, description="Redis host; counts with a password only.")
    REDIS_PORT: int = Field(6379, ge=1, le=65535, description="Redis port.")
    REDIS_PASSWORD: SecretStr | None = Field(None, description="Redis password.")
    CELERY_BROKER_URL: SecretStr | None = Field(
        None, description="Broker for background delivery; unset: a thread in the process."
    )
    EMAILS_ENABLED: bool = Field(True, description="Off: no mail leaves at all.")
    TRUSTED_PROXIES: NonNegativeInt = Field(
        0, description="How many proxies in front are to be believed about the client's address."
    )
    LOG_FORMAT: Literal["auto", "text", "json"] = Field(
        "auto", description="auto is text in debug mode and JSON otherwise."
    )
    LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="The least severe level that is logged."
    )
    METRICS_ENABLED: bool = Field(
        False, description="Prometheus metrics at `/metrics`, open to whoever reaches it."
    )
    TRACING_ENABLED: bool = Field(
        False, description="OpenTelemetry traces, sent as the `OTEL_…` variables say."
    )


class AuthSettings(_Namespace):
    ACCESS_TOKEN_EXPIRE_MINUTES: PositiveInt = Field(30, description="Life of an access token.")
    EMAIL_RESET_TOKEN_EXPIRE_HOURS: PositiveInt = Field(48, description="Life of a reset token.")
    RESET_CODE_EXPIRE_MINUTES: PositiveInt = Field(10, description="Life of a short reset code.")
    PASSWORD_RESET_PATH: UrlPath = Field("/reset", description="Path of the mail's reset link.")
    BCRYPT_ROUNDS: int = Field(12, ge=4, le=16, description="Cost of a password hash (log2).")
    LOGINS_AT_ONCE: PositiveInt = Field(
        24,
        description="Sign-ins that one process works on or lets wait; others are answered 503."
        " Keep it below the server's number of threads.",
    )
    ACTIVE_STATUSES: list[str] = Field(
        ["active", "online"], description="Account statuses that count as active."
    )
    LOGOUT_IS_FINAL: bool = Field(
        False, description="On: tokens from before a logout stay dead after the next login."
    )
    RATE_LIMITS_ENABLED: bool = Field(True, description="Off: no limit on failures at all.")
    LOGIN_LIMIT: Limit = Field(
        "5 per 5 minutes", description="Wrong passwords for one account from one address."
    )
    LOGIN_ADDRESS_LIMIT: Limit = Field(
        "50 per minute", description="Wrong passwords from one address."
    )
    LOGIN_ACCOUNT_LIMIT: Limit = Field(
        "100 per hour",
        description="Wrong passwords for one account; then only known addresses may still try.",
    )
    RECOVERY_LIMIT: Limit = Field(
        "5 per 10 minutes", description="Recovery requests for one e-mail address."
    )
    RECOVERY_ADDRESS_LIMIT: Limit = Field(
        "20 per minute", description="Recovery requests from one address."
    )
    ENABLE_IDP_OAUTH: bool = Field(False, description="Sign-in through an identity provider.")
    ALLOW_IDP_OAUTH_SIGNUP: bool = Field(
        False, description="Unknown e-mails from the provider may become accounts."
    )
    IDP_OAUTH_CLIENT_ID: str = Field("", description="Client id at the identity provider.")
    IDP_OAUTH_CLIENT_SECRET: SecretStr = Field(
        SecretStr(""), description="Client secret at the identity provider."
    )
    IDP_REDIRECT_URI: str = Field("", description="Where the provider sends the browser back to.")
    IDP_METADATA_URL: str = Field("", description="The provider's OpenID discovery document.")
    IDP_ALLOWED_REDIRECT_URIS: list[str] = Field([], description="Further redirect URIs.")
    IDP_REQUIRE_SESSION: bool = Field(
        True, description="Off: sign-in without cookies, giving up PKCE and nonce."
    )


class NotificationsSettings(_Namespace):
    DASHBOARD_PATH: UrlPath = Field("/dashboard", description="Path of the mail's link.")
    QUEUE: str = Field("frontdesk", description="Name of the broker's queue, where there is one.")
    KEEP_DAYS: PositiveInt | None = Field(
        None, description="`prune` deletes notifications that are older; unset: kept for ever."
    )


class ProfilesSettings(_Namespace):
    AVATAR_STORAGE: Literal["local", "s3"] = Field(
        "local", description="Where avatars are kept: in a folder, or in an S3-compatible bucket."
    )
    AVATAR_FOLDER: str = Field(
        "avatars", description="Folder for avatars; a relative one lies under `instance/`."
    )
    AVATAR_S3_BUCKET: str = Field("", description="Bucket for avatars.")
    AVATAR_S3_PREFIX: str = Field("avatars/", description="What their keys begin with.")
    AVATAR_S3_ENDPOINT_URL: str = Field("", description="Address of a server not Amazon's.")
    AVATAR_S3_REGION: str = Field("", description="Region of the bucket.")
    AVATAR_S3_ACCESS_KEY: SecretStr = Field(
        SecretStr(""), description="Access key; empty: boto3 looks in its usual places."
    )
    AVATAR_S3_SECRET_KEY: SecretStr = Field(SecretStr(""), description="Secret of that key.")


class ComposedSettings(BaseSettings):
    """The namespaces as fields. Composed settings of a host subclass this."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_nested_delimiter="__",
        case_sensitive=True,
        extra="ignore",
        hide_input_in_errors=True,
        validate_default=True,
    )

    CORE: CoreSettings = CoreSettings()
    AUTH: AuthSettings = AuthSettings()
    NOTIFICATIONS: NotificationsSettings = NotificationsSettings()
    PROFILES: ProfilesSettings = ProfilesSettings()

    SECRET_KEY: SecretStr | None = Field(
        None, description="Signs the tokens. Unset: made anew at each start, with a warning."
    )
    IDP_OAUTH_CLIENT_ID: str | None = Field(None, description="Client id at the provider.")
    IDP_OAUTH_CLIENT_SECRET: SecretStr | None = Field(None, description="Client secret there.")
    IDP_REDIRECT_URI: str | None = Field(None, description="Where the provider sends back to.")
    IDP_METADATA_URL: str | None = Field(None, description="OpenID discovery document.")
    IDP_ALLOWED_REDIRECT_URIS: list[str] | None = Field(None, description="Further ones.")
    IDP_REQUIRE_SESSION: bool | None = Field(None, description="Off: sign-in without cookies.")


Namespace = TypeVar(
    "Namespace", CoreSettings, AuthSettings, NotificationsSettings, ProfilesSettings
)


@dataclass(frozen=True, repr=False)
class Namespaces:
    """What the code reads, whichever way the settings were written."""

    core: CoreSettings
    auth: AuthSettings
    notifications: NotificationsSettings
    profiles: ProfilesSettings
    secret_key: str
    secret_key_is_set: bool
    source: object

    def top_level(self, name: str, default: Any = None) -> Any:
        """A plain attribute of the host's settings object, such as SMS_ACCOUNT_SID."""
        return reveal(getattr(self.source, name, default))


def namespaces(settings: object) -> Namespaces:
    if isinstance(settings, Namespaces):
        return settings
    core = _namespace(CoreSettings, settings, "CORE")
    auth = _namespace(AuthSettings, settings, "AUTH")
    given = {
        name: value
        for name in AuthSettings.model_fields
        if name.startswith("IDP_") and (value := getattr(settings, name, None)) is not None
    }
    key = reveal(getattr(settings, "SECRET_KEY", None)) or reveal(core.SECRET_KEY)
    return Namespaces(
        core=core,
        auth=auth.model_copy(update=given),
        notifications=_namespace(NotificationsSettings, settings, "NOTIFICATIONS"),
        profiles=_namespace(ProfilesSettings, settings, "PROFILES"),
        secret_key=key or secrets.token_urlsafe(48),
        secret_key_is_set=bool(key),
        source=settings,
    )


def reveal(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def _namespace(kind: type[Namespace], settings: object, name: str) -> Namespace:
    holder = getattr(settings, name, settings)
    if type(holder) is kind:
        return holder
    given = {field: getattr(holder, field) for field in kind.model_fields if hasattr(holder, field)}
    return kind.model_validate(given)
