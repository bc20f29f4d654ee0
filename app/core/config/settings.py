"""The settings of the core, and `LoadedSettings`, which the code reads all settings from.

Each package declares a `Namespace` in its `settings.py`. `app/extension/settings.py` combines the
namespaces, and `app/extension/sources.py` loads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, SecretStr

from ..types import Values
from .field_types import Bind, DatabaseUrl, HeaderName, MountPath, Origin, RedisUrl, UrlPath


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
        default="Frontdesk", description="Name of the project, in `/health` and in emails."
    )
    API_V1_STR: UrlPath = Field(default="/api/v1", description="Prefix of all API routes.")
    CLIENT_HOST: Origin = Field(
        default="http://localhost:3000",
        description="Origin of the client: CORS allows it, and links in emails lead there. Unset,"
        " they lead to the console's pages if PUBLIC_URL is set.",
    )
    PUBLIC_URL: Origin | None = Field(
        default=None,
        description="Public URL of the service, such as https://api.example.com: the start of"
        " avatar URLs and of links to the console's pages.",
    )
    CONSOLE_ENABLED: bool = Field(
        default=True,
        description="Whether the service has the console's pages. An application that mounts them"
        " sets this, or CONSOLE_PATH.",
    )
    CONSOLE_PATH: MountPath = Field(default="/", description="Path of the console's pages.")
    CORS_ORIGINS: list[Origin] = Field(default=[], description="Further origins that CORS allows.")
    CORS_HEADERS: list[HeaderName] = Field(
        default=[], description="Further request headers that CORS allows, such as `X-Tenant`."
    )
    PROBLEM_TYPE_URL: str = Field(
        default="https://flask-frontdesk.readthedocs.io/error-codes.html",
        description="URL of the page that describes the error codes: the `type` of an error is this"
        " URL with the code as its anchor. If empty, `type` is `about:blank`.",
    )
    HSTS_SUBDOMAINS: bool = Field(
        default=False, description="On: browsers use HTTPS for all subdomains too."
    )
    SECRET_KEY: SecretStr | None = Field(
        default=None,
        description="Signs the tokens. Unset: each start creates a random key, with a warning.",
    )
    SECRET_KEY_FALLBACKS: list[SecretStr] = Field(
        default=[], description="Former secret keys: tokens that they signed stay valid."
    )
    DATABASE_URL: DatabaseUrl = Field(
        default=SecretStr("sqlite:///frontdesk.db"),
        description="SQLAlchemy URL; a relative SQLite path lies under `instance/`.",
    )
    DATABASE_POOL_SIZE: PositiveInt = Field(
        default=16, description="Maximum number of PostgreSQL connections of a process."
    )
    KEYSTORE: Literal["auto", "memory", "redis", "database"] = Field(
        default="auto",
        description="Shared state store for counters and codes; auto: Redis if configured. With"
        " redis, missing or invalid Redis settings abort startup. With database and SQLite, a"
        " separate file next to the database.",
    )
    REDIS_URL: RedisUrl | None = Field(
        default=None,
        description="URL of the Redis server for the shared state store: `redis://`, `rediss://`"
        " (TLS) or `unix://`. Any other scheme aborts startup.",
    )
    REDIS_HOST: str | None = Field(
        default=None, description="Redis host; ignored without a password."
    )
    REDIS_PORT: int = Field(default=6379, ge=1, le=65535, description="Redis port.")
    REDIS_PASSWORD: SecretStr | None = Field(default=None, description="Redis password.")
    CELERY_BROKER_URL: SecretStr | None = Field(
        default=None,
        description="Celery broker that delivers; unset: a thread in the process delivers.",
    )
    EMAILS_ENABLED: bool = Field(default=True, description="Off: no email is sent.")
    TRUSTED_PROXIES: NonNegativeInt = Field(
        default=0,
        description="Number of trusted proxies in front, for the client's IP address. For the"
        " service only: an application uses werkzeug's ProxyFix.",
    )
    PRODUCTION_CHECKS: Literal["warn", "refuse"] = Field(
        default="warn",
        description="Whether startup warns about misconfigurations (a weak key, rate limits off,"
        " debug mode …) or aborts.",
    )
    LOG_FORMAT: Literal["auto", "text", "json"] = Field(
        default="auto", description="Log format; auto: text in debug mode, else JSON."
    )
    LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="Minimum log level."
    )
    METRICS_ENABLED: bool = Field(
        default=False, description="Prometheus metrics at `/metrics`, public to all clients."
    )
    METRICS_BIND: Bind | None = Field(
        default=None,
        description="Separate address at which gunicorn serves only `/metrics`: `127.0.0.1:9100`"
        " or `unix:/run/frontdesk/metrics.sock`.",
    )
    TRACING_ENABLED: bool = Field(
        default=False, description="OpenTelemetry traces, configured by the `OTEL_…` variables."
    )

    @property
    def page_host(self) -> str:
        """The start of links in emails: the client's origin, or the console's URL without one."""
        return self.console_url if self.links_to_console and self.PUBLIC_URL else self.CLIENT_HOST

    def page_url(self, path: str) -> str:
        return self.page_host + path

    @property
    def console_url(self) -> str:
        """The URL of the console's pages, or only their path without `PUBLIC_URL`."""
        return (self.PUBLIC_URL or "") + self.CONSOLE_PATH.rstrip("/")

    @property
    def links_to_console(self) -> bool:
        return self.CONSOLE_ENABLED and "CLIENT_HOST" not in self.model_fields_set


class SettingOrigin(NamedTuple):
    """Where a value was set: a source below, and the name of the variable, the key or the class."""

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
    plain: Values
    secret_key: str
    # By namespace and name; a setting that is missing here has its default.
    origins: Mapping[tuple[str, str], SettingOrigin]

    def of(self, kind: type[Kind]) -> Kind:
        """Return the namespace of this class."""
        return next(value for value in self.namespaces.values() if isinstance(value, kind))

    def top_level(self, name: str) -> Any:
        """Return the value of a setting without a namespace."""
        return reveal(self.plain[name])

    def origin(self, namespace: str, name: str) -> SettingOrigin:
        return self.origins.get((namespace, name), DEFAULT)

    @property
    def secret_key_is_set(self) -> bool:
        return self.core.SECRET_KEY is not None

    def derive(self, namespace: str, **values: object) -> LoadedSettings:
        """Return these settings with values that follow from others."""
        changed = self.namespaces[namespace].model_copy(update=values)
        return replace(
            self,
            core=changed if isinstance(changed, CoreSettings) else self.core,
            namespaces={**self.namespaces, namespace: changed},
            origins={**self.origins, **{(namespace, name): DERIVED for name in values}},
        )


def reveal(value: object) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value
