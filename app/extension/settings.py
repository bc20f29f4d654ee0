"""Settings, in two ways of writing them.

Composed: `class Settings(ComposedSettings)` has the namespaces as fields and reads
`CORE__PROJECT_NAME` from the environment. Subclassed: `class Settings(CoreSettings, AuthSettings,
BaseSettings)` reads the flat `PROJECT_NAME`. The secret key and the SMS settings are read from the
top level in both. Where else a host may say them: sources.py.
"""

from __future__ import annotations

import secrets
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from ..audit.settings import AuditSettings
from ..auth.settings import AuthSettings
from ..core.config.environment import is_anothers, space_of, wrong_settings
from ..core.config.settings import CoreSettings, Namespace, Namespaces, reveal
from ..delivery.mail.brand import BrandSettings
from ..delivery.settings import DeliveryVariables
from ..notifications.settings import NotificationsSettings
from ..profiles.settings import ProfilesSettings
from ..tasks.settings import TasksSettings
from ..workspaces.settings import WorkspacesSettings

NAMESPACES: dict[str, type[Namespace]] = {
    "CORE": CoreSettings,
    "AUTH": AuthSettings,
    "NOTIFICATIONS": NotificationsSettings,
    "PROFILES": ProfilesSettings,
    "WORKSPACES": WorkspacesSettings,
    "TASKS": TasksSettings,
    "AUDIT": AuditSettings,
}
SPACES: dict[str, type[Namespace]] = {**NAMESPACES, "BRAND": BrandSettings}


class ComposedSettings(DeliveryVariables):
    """The namespaces as fields. Composed settings of a host subclass this."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_nested_delimiter="__",
        case_sensitive=True,
        extra="ignore",
        hide_input_in_errors=True,
        validate_default=True,
    )

    # The service has its environment for itself, and what is written there is meant for it.
    SHARES_ENVIRONMENT: ClassVar[bool] = True
    # Whether the defaults of a namespace count beside what is said of it elsewhere.
    FILLS_IN: ClassVar[bool] = True

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
        description="Signs the tokens. Unset: made anew at each start, with a warning.",
    )
    IDP_OAUTH_CLIENT_ID: str | None = Field(default=None, description="Client id at the provider.")
    IDP_OAUTH_CLIENT_SECRET: SecretStr | None = Field(
        default=None, description="Client secret there."
    )
    IDP_REDIRECT_URI: str | None = Field(
        default=None, description="Where the provider sends back to."
    )
    IDP_METADATA_URL: str | None = Field(default=None, description="OpenID discovery document.")
    IDP_ALLOWED_REDIRECT_URIS: list[str] | None = Field(default=None, description="Further ones.")
    IDP_REQUIRE_SESSION: bool | None = Field(
        default=None, description="Off: sign-in without cookies."
    )
    FIRST_SUPERUSER: str | None = Field(default=None, description="E-mail of the first root.")
    FIRST_SUPERUSER_PASSWORD: SecretStr | None = Field(
        default=None, description="Its password; must not stay the default."
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
        # A host's own class of a namespace may have more in it than ours.
        kinds = {name: space_of(cls.model_fields[name]) or kind for name, kind in SPACES.items()}
        for source in (env_settings, dotenv_settings):
            if cls.SHARES_ENVIRONMENT and isinstance(source, EnvSettingsSource):
                source.env_vars = {
                    name: value
                    for name, value in source.env_vars.items()
                    if not is_anothers(name, value, kinds)
                }
        sources = [init_settings, env_settings, dotenv_settings, file_secret_settings]
        if isinstance(dotenv_settings, EnvSettingsSource) and not dotenv_settings.env_vars:
            # Where nothing is said, each setting would be looked for once more.
            sources.remove(dotenv_settings)
        return (*sources, _Defaults(settings_cls)) if cls.FILLS_IN else tuple(sources)


class _Defaults(PydanticBaseSettingsSource):
    """What a class of settings says of a namespace by its default. A variable changes its own
    field, leaves those as they are, and of all others it is still known that nobody has said
    them."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        fields = self.settings_cls.model_fields
        spaces = {name: fields[name].default for name in SPACES}
        said = {name: _said(given, space_of(fields[name])) for name, given in spaces.items()}
        return {name: values for name, values in said.items() if values}


def _said(given: object, kind: type[BaseModel] | None) -> dict[str, Any]:
    """The fields that a settings object says anything of which their own defaults do not."""
    if not isinstance(given, BaseModel) or kind is None:
        return {}
    own = {name: field.get_default() for name, field in kind.model_fields.items()}
    names = {
        name
        for name in type(given).model_fields
        if name in given.model_fields_set or getattr(given, name) != own.get(name, _NOTHING)
    }
    return given.model_dump(include=names)


_NOTHING = object()


def namespaces(settings: object) -> Namespaces:
    if isinstance(settings, Namespaces):
        return settings
    core = _namespace(CoreSettings, settings, "CORE")
    others = (
        _namespace(kind, settings, name) for name, kind in NAMESPACES.items() if name != "CORE"
    )
    key = reveal(getattr(settings, "SECRET_KEY", None)) or reveal(core.SECRET_KEY)
    return Namespaces(
        core=core,
        all=[each.model_copy(update=_top_level(each, settings)) for each in others],
        secret_key=key or secrets.token_urlsafe(48),
        secret_key_is_set=bool(key),
        source=settings,
    )


def _top_level(namespace: Namespace, settings: object) -> dict[str, Any]:
    """The identity provider's settings are given at the top level too, and count from there."""
    return {
        name: value
        for name in type(namespace).model_fields
        if name.startswith("IDP_") and (value := getattr(settings, name, None)) is not None
    }


Kind = TypeVar("Kind", bound=Namespace)


def _namespace(kind: type[Kind], settings: object, name: str) -> Kind:
    holder = getattr(settings, name, None if kind.IS_ALWAYS_APART else settings)
    if type(holder) is kind:
        return holder
    given = {field: getattr(holder, field) for field in kind.model_fields if hasattr(holder, field)}
    if isinstance(holder, BaseModel):
        said = holder.model_fields_set
        given = {
            field: value
            for field, value in given.items()
            if field in said or value != kind.model_fields[field].get_default()
        }
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise wrong_settings(error) from None
