"""The settings of the core, and `LoadedSettings`, which the code reads all settings from.

Each package declares a `Namespace` in its `settings.py`. `app/extension/settings.py` combines the
namespaces, and `app/extension/sources.py` loads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    NonNegativeInt,
    PositiveInt,
    PrivateAttr,
    SecretStr,
    model_validator,
)

from ..types import Values
from .field_types import (
    Bind,
    BrokerUrl,
    DatabaseUrl,
    HeaderName,
    MountPath,
    Origin,
    PostgresUrl,
    RedisUrl,
    UrlPath,
)
from .removed_settings import removed_fields


class Namespace(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        hide_input_in_errors=True,
        validate_default=True,
        # Flask reads a variable of digits as a number.
        coerce_numbers_to_str=True,
    )

    # The removed settings that this object was given; they have no values.
    _removed: set[str] = PrivateAttr(default_factory=set)

    @classmethod
    def removed_fields(cls) -> set[str]:
        """Return the fields that this class had once: `AuthSettings` those of `AUTH`, and an
        application's subclass those of all its bases."""
        names = {kind.__name__.removesuffix("Settings").upper() for kind in cls.__mro__}
        return removed_fields(names) - cls.model_fields.keys()

    @model_validator(mode="wrap")
    @classmethod
    def ignore_removed_fields(
        cls, given: object, validate: ModelWrapValidatorHandler[Self]
    ) -> Self:
        if not isinstance(given, Mapping):
            return validate(given)
        # Variables have small letters, unless the class distinguishes them.
        removed = {name for name in given if str(name).upper() in cls.removed_fields()}
        found = validate({name: value for name, value in given.items() if name not in removed})
        found._removed = {str(name).upper() for name in removed}
        return found

    def has_removed_field(self, name: str) -> bool:
        """Return whether the object was given this removed setting, or its class declares it."""
        return name in self._removed or hasattr(self, name)


class CoreSettings(Namespace):
    """Settings of the application, the namespace CORE."""

    PROJECT_NAME: str = Field(
        default="Frontdesk",
        description="Name of the project, shown at `/health`, in the API documentation and, unless"
        " `BRAND__NAME` is set, to users.",
    )
    API_V1_STR: UrlPath = Field(
        default="/api/v1", description="Path prefix of all API routes of the service."
    )
    CLIENT_HOST: Origin = Field(
        default="http://localhost:3000",
        description="Origin of the web client: CORS allows this origin, and links in emails"
        " start with it. If unset and `CORE__PUBLIC_URL` is set, links in emails"
        " open the console. Example: `https://app.example.com`.",
    )
    PUBLIC_URL: Origin | None = Field(
        default=None,
        description="Public URL of the service, used for avatar URLs and for links to the"
        " console. Example: `https://api.example.com`.",
    )
    LANGUAGE: str = Field(
        default="en",
        pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
        description="Language of pages and emails if neither the account nor the browser has a"
        " language with a translation. Example: `de`.",
    )
    CONSOLE_ENABLED: bool = Field(
        default=True,
        description="Serve the web console. In an application that mounts the console itself,"
        " set this or `CORE__CONSOLE_PATH`.",
    )
    CONSOLE_PATH: MountPath = Field(default="/", description="Path of the web console.")
    CORS_ORIGINS: list[Origin] = Field(
        default=[],
        description="Origins that CORS allows in addition to `CORE__CLIENT_HOST`. Example:"
        ' `["https://admin.example.com"]`.',
    )
    CORS_HEADERS: list[HeaderName] = Field(
        default=[],
        description="Request headers that CORS allows in addition to the headers that the API"
        ' reads. Example: `["X-Tenant"]`.',
    )
    PROBLEM_TYPE_URL: str = Field(
        default="https://flask-frontdesk.readthedocs.io/error-codes.html",
        description="URL of the page that describes the error codes. An error's `type` is"
        " this URL with the code as anchor; if it is empty, `about:blank`.",
    )
    HSTS_SUBDOMAINS: bool = Field(
        default=False,
        description="Make browsers use HTTPS for all subdomains too (HSTS `includeSubDomains`).",
    )
    SECRET_KEY: SecretStr | None = Field(
        default=None,
        description="Key that signs access tokens and links, for settings that are grouped by"
        " namespace. A non-empty `SECRET_KEY` wins.",
    )
    SECRET_KEY_FALLBACKS: list[SecretStr] = Field(
        default=[],
        description="Previous secret keys: tokens that these keys signed stay valid while you"
        " rotate the key.",
    )
    DATABASE_URL: DatabaseUrl = Field(
        default=SecretStr("sqlite:///frontdesk.db"),
        description="SQLAlchemy URL of the database. A relative SQLite path is below"
        " `instance/`. Example:"
        " `postgresql+psycopg://frontdesk@db.example.com/frontdesk`.",
    )
    DATABASE_POOL_SIZE: PositiveInt = Field(
        default=16, description="Maximum number of PostgreSQL connections of each process."
    )
    DATABASE_PREPARED: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Whether PostgreSQL connections prepare statements. `auto` prepares except"
        " through a pooler. For `on`, PgBouncer needs version 1.22 and"
        " `max_prepared_statements`.",
    )
    DATABASE_DIRECT_URL: PostgresUrl | None = Field(
        default=None,
        description="SQLAlchemy URL of the same database without the pooler of"
        " `CORE__DATABASE_URL`, for migrations.",
    )
    DATABASE_READ_URL: PostgresUrl | None = Field(
        default=None,
        description="SQLAlchemy URL of a streaming replica, which lists are read from: inbox pages,"
        " members, audit logs, sent broadcasts and accounts.",
    )
    DATABASE_READ_LAG: PositiveInt = Field(
        default=5,
        description="Seconds that the replica may be behind the primary before lists are read from"
        " the primary. A caller who changes data reads from the primary for as long.",
    )
    KEYSTORE: Literal["auto", "memory", "redis", "database"] = Field(
        default="auto",
        description="Shared state store for rate limits and one-time codes. `auto` uses Redis"
        " if it is configured, otherwise the memory of each process. `database` with SQLite uses a"
        " file next to the database.",
    )
    REDIS_URL: RedisUrl | None = Field(
        default=None,
        description="URL of the Redis server for the shared state store: `redis://`,"
        " `rediss://` (TLS) or `unix://`; `redis+cluster://` for a Redis Cluster,"
        " and for sentinels"
        " `redis+sentinel://a.example.com:26379,b.example.com:26379/mymaster/0`.",
    )
    REDIS_HOST: str | None = Field(
        default=None,
        description="Host name of the Redis server, if `CORE__REDIS_URL` is unset. Needs"
        " `CORE__REDIS_PASSWORD`.",
    )
    REDIS_PORT: int = Field(
        default=6379,
        ge=1,
        le=65535,
        description="Port of the Redis server, for `CORE__REDIS_HOST`.",
    )
    REDIS_PASSWORD: SecretStr | None = Field(
        default=None, description="Password of the Redis server, for `CORE__REDIS_HOST`."
    )
    CELERY_BROKER_URL: BrokerUrl | None = Field(
        default=None,
        description="URL of the Celery broker for background jobs; if unset, a thread in each"
        " process runs them. Redis as in `CORE__REDIS_URL`."
        " Example: `amqp://broker.example.com//`.",
    )
    EMAILS_ENABLED: bool = Field(
        default=True, description="Send emails. If `false`, no email is sent."
    )
    TRUSTED_PROXIES: NonNegativeInt = Field(
        default=0,
        description="Number of trusted reverse proxies, to determine the client's IP address."
        " An application uses Werkzeug's `ProxyFix` instead.",
    )
    PRODUCTION_CHECKS: Literal["warn", "refuse"] = Field(
        default="warn",
        description="Whether misconfigurations, such as a weak secret key, are logged at startup"
        " or prevent it.",
    )
    LOG_FORMAT: Literal["auto", "text", "json"] = Field(
        default="auto",
        description="Format of log lines. `auto` logs text in debug mode and in commands on a"
        " terminal, and JSON otherwise.",
    )
    LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO",
        description="Minimum level of log lines. If the setting is unset, commands such as"
        " `flask accounts` use `WARNING`.",
    )
    METRICS_ENABLED: bool = Field(
        default=False, description="Serve Prometheus metrics at `/metrics`, without authentication."
    )
    METRICS_BIND: Bind | None = Field(
        default=None,
        description="Separate address at which gunicorn serves only `/metrics`. Example:"
        " `127.0.0.1:9100` or `unix:/run/frontdesk/metrics.sock`.",
    )
    TRACING_ENABLED: bool = Field(
        default=False,
        description="Send OpenTelemetry traces, configured by the `OTEL_…` variables.",
    )

    @property
    def page_host(self) -> str:
        """The start of links in emails: the client's origin, or the console's URL without one."""
        return self.console_url if self.links_to_console and self.PUBLIC_URL else self.CLIENT_HOST

    def page_url(self, path: str) -> str:
        return self.page_host + path

    def link_url(self, url: str) -> str:
        """Return the URL that a link opens: a path is a page of the page host."""
        return self.page_url(url) if url.startswith("/") else url

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
    # The removed settings that are still set, by their names in the environment.
    removed: Mapping[str, SettingOrigin]

    def of(self, kind: type[Kind]) -> Kind:
        return next(value for value in self.namespaces.values() if isinstance(value, kind))

    def top_level(self, name: str) -> Any:
        """Return the value of a setting without a namespace."""
        return reveal(self.plain[name])

    def origin(self, namespace: str, name: str) -> SettingOrigin:
        return self.origins.get((namespace, name), DEFAULT)

    @property
    def secret_key_is_set(self) -> bool:
        return self.core.SECRET_KEY is not None

    @property
    def former_secret_keys(self) -> list[str]:
        return [key.get_secret_value() for key in self.core.SECRET_KEY_FALLBACKS]

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
