"""The settings classes, in the two ways of writing settings.

Composed: `class Settings(ComposedSettings)` has the namespaces as fields and reads
`CORE__PROJECT_NAME` from the environment. Subclassed: `class Settings(CoreSettings, AuthSettings,
BaseSettings)` reads the flat `PROJECT_NAME`. The secret key and the SMS settings are read from the
top level in both. `sources.py` merges them with the other sources of an application.
"""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from pydantic import BaseModel, Field, SecretStr
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from ..audit.settings import AuditSettings
from ..auth.settings import AuthSettings
from ..core.config.environment import is_foreign, namespace_class
from ..core.config.settings import CoreSettings, Namespace
from ..core.types import JsonObject
from ..delivery.mail.brand import BrandSettings
from ..delivery.settings import DeliveryVariables
from ..notifications.settings import NotificationsSettings
from ..profiles.settings import ProfilesSettings
from ..tasks.settings import TasksSettings
from ..workspaces.settings import WorkspacesSettings


class ComposedSettings(DeliveryVariables):
    """The settings with a field for each namespace. Subclass it for your application.

    Example::

        class Settings(ComposedSettings):
            AUTH: AuthSettings = AuthSettings(REGISTRATION="open")

        frontdesk.init_app(app, db, settings=Settings(), account_model=Account)
    """

    model_config = SettingsConfigDict(
        env_file=".env",
        env_nested_delimiter="__",
        case_sensitive=True,
        extra="ignore",
        hide_input_in_errors=True,
        validate_default=True,
    )

    # Whether the environment may have variables of other programs that begin with a namespace.
    ALLOWS_FOREIGN_VARIABLES: ClassVar[bool] = True

    CORE: CoreSettings = CoreSettings()
    AUTH: AuthSettings = AuthSettings()
    NOTIFICATIONS: NotificationsSettings = NotificationsSettings()
    PROFILES: ProfilesSettings = ProfilesSettings()
    WORKSPACES: WorkspacesSettings = WorkspacesSettings()
    TASKS: TasksSettings = TasksSettings()
    AUDIT: AuditSettings = AuditSettings()
    BRAND: BrandSettings = BrandSettings()

    SECRET_KEY: SecretStr | None = Field(
        default=None,
        description="Key that signs access tokens and links. Use at least 32 random characters."
        " If unset, each start creates a key, which ends all sessions.",
    )
    IDP_OAUTH_CLIENT_ID: str | None = Field(
        default=None, description="Client ID at the identity provider."
    )
    IDP_OAUTH_CLIENT_SECRET: SecretStr | None = Field(
        default=None, description="Client secret at the identity provider."
    )
    IDP_REDIRECT_URI: str | None = Field(
        default=None,
        description="URL to which the identity provider returns the browser. Example:"
        " `https://app.example.com/signed-in`.",
    )
    IDP_METADATA_URL: str | None = Field(
        default=None,
        description="URL of the identity provider's OpenID Connect discovery document. Example:"
        " `https://accounts.google.com/.well-known/openid-configuration`.",
    )
    IDP_ISSUER: str | None = Field(
        default=None,
        description="Issuer that the identity provider's discovery document must name. Default:"
        " `IDP_METADATA_URL` without `/.well-known/openid-configuration`. Required if the document"
        " has `{tenantid}`: the issuer of your tenant, or the document's value for every tenant.",
    )
    IDP_ALLOWED_REDIRECT_URIS: list[str] | None = Field(
        default=None,
        description="Redirect URIs that are allowed in addition to `IDP_REDIRECT_URI` and the"
        " origin of `CORE__CLIENT_HOST`.",
    )
    IDP_REQUIRE_SESSION: bool | None = Field(
        default=None,
        description="Require the session cookie of the browser that started the sign-in. If"
        " `false`, the sign-in works without cookies, but without PKCE and nonce.",
    )
    FIRST_SUPERUSER: str | None = Field(
        default=None, description="Email address of the first root account."
    )
    FIRST_SUPERUSER_PASSWORD: SecretStr | None = Field(
        default=None, description="Password of the first root account. Change the default."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # A subclass may have its own class for a namespace, with more fields.
        kinds = {
            name: namespace_class(cls.model_fields[name]) or kind
            for name, kind in NAMESPACES.items()
        }
        for source in (env_settings, dotenv_settings):
            if cls.ALLOWS_FOREIGN_VARIABLES and isinstance(source, EnvSettingsSource):
                source.env_vars = {
                    name: value
                    for name, value in source.env_vars.items()
                    if not is_foreign(name, value, kinds)
                }
        # A variable replaces one field of a namespace; the class's other values stay.
        defaults = {
            name: values
            for name, kind in kinds.items()
            if (values := set_fields(cls.model_fields[name].default, kind))
        }
        sources = [init_settings, env_settings, dotenv_settings, file_secret_settings]
        if isinstance(dotenv_settings, EnvSettingsSource) and not dotenv_settings.env_vars:
            # An empty source would only look up each setting again.
            sources.remove(dotenv_settings)
        return (*sources, InitSettingsSource(settings_cls, defaults))


class ServiceSettings(ComposedSettings):
    """The settings of the service: its environment has no variables of other programs."""

    ALLOWS_FOREIGN_VARIABLES: ClassVar[bool] = False


NAMESPACES: dict[str, type[Namespace]] = {
    name: type(field.default)
    for name, field in ComposedSettings.model_fields.items()
    if isinstance(field.default, Namespace)
}


def set_fields(holder: object, kind: type[BaseModel]) -> JsonObject:
    """Return the fields of this class that an object or a mapping sets, with the removed ones.

    A model sets the fields that it was given, and fields with a different default than this class.
    """
    if isinstance(holder, Mapping):
        return dict(holder)
    fields = {name: getattr(holder, name) for name in kind.model_fields if hasattr(holder, name)}
    if isinstance(holder, BaseModel):
        fields = {
            name: value
            for name, value in fields.items()
            if name in holder.model_fields_set or value != kind.model_fields[name].get_default()
        }
    return {**_removed_fields(holder, kind), **fields}


def _removed_fields(holder: object, kind: type[BaseModel]) -> dict[str, None]:
    if not issubclass(kind, Namespace):
        return {}
    has = holder.has_removed_field if isinstance(holder, Namespace) else partial(hasattr, holder)
    return {name: None for name in kind.removed_fields() if has(name)}
