"""The settings of the core, and `LoadedSettings`, which the code reads all settings from.

Each package declares a `Namespace` in its `settings.py`. `app/extension/settings.py` combines the
namespaces, and `app/extension/sources.py` loads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, SecretStr

from .kinds import Bind, DatabaseUrl, HeaderName, MountPath, Origin, RedisUrl, UrlPath


class Namespace(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        hide_input_in_errors=True,
        validate_default=True,
        # Flask reads a variable of digits as a number.
        coerce_numbers_to_str=True,
    )


class CoreSettings(Namespace):
    PROJECT_NAME: str = Field(
        default="Frontdesk", description="The name shown by `/health` and in mails."
    )
    API_V1_STR: UrlPath = Field(default="/api/v1", description="The prefix of every route.")
    CLIENT_HOST: Origin = Field(
        default="http://localhost:3000",
        description="Origin of the client: mail links lead there and CORS lets it in. Unset, they"
        " lead to the console's pages, where PUBLIC_URL says where those are.",
    )
    PUBLIC_URL: Origin | None = Field(
        default=None,
        description="The service's own address, https://api.example.com: avatars' URLs begin so,"
        " and links to the console's pages.",
    )
    CONSOLE_ENABLED: bool = Field(
        default=True,
        description="Whether the service has the console's pages. A host that mounts them says so"
        " here, or where they begin.",
    )
    CONSOLE_PATH: MountPath = Field(default="/", description="Where they begin.")
    CORS_ORIGINS: list[Origin] = Field(default=[], description="Further origins that CORS lets in.")
    CORS_HEADERS: list[HeaderName] = Field(
        default=[], description="Further request headers that CORS lets through, `X-Tenant`."
    )
    HSTS_SUBDOMAINS: bool = Field(
        default=False, description="On: over HTTPS, browsers ask every subdomain over HTTPS too."
    )
    SECRET_KEY: SecretStr | None = Field(
        default=None,
        description="Signs the tokens. Unset: made anew at each start, with a warning.",
    )
    SECRET_KEY_FALLBACKS: list[SecretStr] = Field(
        default=[], description="Former secret keys whose tokens are still accepted."
    )
    DATABASE_URL: DatabaseUrl = Field(
        default=SecretStr("sqlite:///frontdesk.db"),
        description="SQLAlchemy URL; a relative SQLite path lies under `instance/`.",
    )
    DATABASE_POOL_SIZE: PositiveInt = Field(
        default=16, description="Connections to PostgreSQL that one process may hold."
    )
    KEYSTORE: Literal["auto", "memory", "redis", "database"] = Field(
        default="auto",
        description="Where counters and codes are kept; auto is Redis where configured. With"
        " redis, missing or invalid Redis settings stop the start. With database and SQLite, a"
        " file of its own beside the database.",
    )
    REDIS_URL: RedisUrl | None = Field(
        default=None,
        description="URL of the Redis server for the shared state store: `redis://`, `rediss://`"
        " (TLS) or `unix://`. Any other scheme stops the start.",
    )
    REDIS_HOST: str | None = Field(
        default=None, description="Redis host; counts with a password only."
    )
    REDIS_PORT: int = Field(default=6379, ge=1, le=65535, description="Redis port.")
    REDIS_PASSWORD: SecretStr | None = Field(default=None, description="Redis password.")
    CELERY_BROKER_URL: SecretStr | None = Field(
        default=None, description="Broker for background delivery; unset: a thread in the process."
    )
    EMAILS_ENABLED: bool = Field(default=True, description="Off: no mail leaves at all.")
    TRUSTED_PROXIES: NonNegativeInt = Field(
        default=0,
        description="How many proxies in front are to be believed about the client's address. Of"
        " the service alone: an application uses werkzeug's ProxyFix.",
    )
    PRODUCTION_CHECKS: Literal["warn", "refuse"] = Field(
        default="warn",
        description="What endangers production (a weak key, limits off, debug mode …): a warning at"
        " the start, or no start.",
    )
    LOG_FORMAT: Literal["auto", "text", "json"] = Field(
        default="auto", description="auto is text in debug mode and JSON otherwise."
    )
    LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="The least severe level that is logged."
    )
    METRICS_ENABLED: bool = Field(
        default=False, description="Prometheus metrics at `/metrics`, open to whoever reaches it."
    )
    METRICS_BIND: Bind | None = Field(
        default=None,
        description="Where gunicorn serves `/metrics` instead, and nothing else: `127.0.0.1:9100`"
        " or `unix:/run/frontdesk/metrics.sock`.",
    )
    TRACING_ENABLED: bool = Field(
        default=False, description="OpenTelemetry traces, sent as the `OTEL_…` variables say."
    )

    @property
    def page_host(self) -> str:
        """What stands before the path of a page that a mail links to: the client's origin, or where
        the console begins if nobody has named a client."""
        return self.console_url if self.links_to_console and self.PUBLIC_URL else self.CLIENT_HOST

    def page_url(self, path: str) -> str:
        return self.page_host + path

    @property
    def console_url(self) -> str:
        """Its path alone where nobody has said how the service is called."""
        return (self.PUBLIC_URL or "") + self.CONSOLE_PATH.rstrip("/")

    @property
    def links_to_console(self) -> bool:
        return self.CONSOLE_ENABLED and "CLIENT_HOST" not in self.model_fields_set


class SettingOrigin(NamedTuple):
    """Where a value was set: one of the words below, and the name of the variable, the key or the
    class."""

    source: str
    where: str = ""


ENVIRONMENT, DOTENV, IN_CONFIG, IN_CODE = "environment", ".env", "config", "host"
DEFAULT = SettingOrigin("default")
# The value follows from other settings.
DERIVED = SettingOrigin("follows")

Kind = TypeVar("Kind", bound=Namespace)


@dataclass(frozen=True, repr=False)
class LoadedSettings:
    """The settings of one application, merged from all their sources and validated."""

    core: CoreSettings
    # By name: `CORE`, `AUTH` …
    namespaces: Mapping[str, Namespace]
    # The values of names without a namespace, such as SMS_ACCOUNT_SID.
    plain: Mapping[str, Any]
    secret_key: str
    # By namespace and name; a setting that is missing here has its default.
    origins: Mapping[tuple[str, str], SettingOrigin]

    def of(self, kind: type[Kind]) -> Kind:
        """The namespace of this class."""
        return next(each for each in self.namespaces.values() if isinstance(each, kind))

    def top_level(self, name: str) -> Any:
        """The value of a name without a namespace."""
        return reveal(self.plain[name])

    def origin(self, namespace: str, name: str) -> SettingOrigin:
        return self.origins.get((namespace, name), DEFAULT)

    @property
    def secret_key_is_set(self) -> bool:
        return self.core.SECRET_KEY is not None

    def derive(self, namespace: str, **values: Any) -> LoadedSettings:
        """Return these settings with values that follow from others."""
        changed = self.namespaces[namespace].model_copy(update=values)
        return replace(
            self,
            core=changed if isinstance(changed, CoreSettings) else self.core,
            namespaces={**self.namespaces, namespace: changed},
            origins={**self.origins, **{(namespace, name): DERIVED for name in values}},
        )


def reveal(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value
