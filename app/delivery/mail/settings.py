"""Email settings: those of Flask-Mail, with their meaning, and a few additional ones."""

from __future__ import annotations

from email.utils import formataddr
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ...core.config.environment import wrong_settings
from ...core.config.settings import LoadedSettings, reveal
from ...core.types import JsonObject, Values
from ..settings import DEFAULT_SENDER
from .mime import one_line


def _one_address(value: object) -> object:
    if not isinstance(value, (tuple, list)):
        return value
    try:
        name, address = value
        return formataddr((one_line(name or ""), address))
    except (AttributeError, TypeError, ValueError):
        raise ValueError("must be an address, or a name and an address") from None


Address = Annotated[str, BeforeValidator(_one_address)]


class MailSettings(BaseModel):
    """The application's `app.config` is used first, because Flask-Mail reads the same names there;
    then the settings."""

    model_config = ConfigDict(
        frozen=True,
        hide_input_in_errors=True,
        populate_by_name=True,
        alias_generator=lambda name: f"MAIL_{name.upper()}",
    )

    server: str = ""
    port: int = Field(default=25, ge=1, le=65535)
    use_tls: bool = False
    use_ssl: bool = False
    username: str | None = None
    password: str | None = Field(default=None, repr=False)
    default_sender: Address = DEFAULT_SENDER
    reply_to: Address | None = None
    # Written into an SMTP command, so spaces and line breaks are not allowed.
    local_hostname: str | None = Field(default=None, pattern=r"^[A-Za-z0-9.:\[\]-]{1,255}$")
    suppress_send: bool = False

    @classmethod
    def read(cls, config: Values, settings: LoadedSettings) -> MailSettings:
        names = [str(field.alias) for field in cls.model_fields.values()]
        found = {name: reveal(config.get(name, settings.top_level(name))) for name in names}
        try:
            # An empty value is ignored.
            return cls.model_validate({name: value for name, value in found.items() if value})
        except ValidationError as error:
            raise wrong_settings(error) from None

    def as_config(self) -> JsonObject:
        """Return the set values under the names that Flask-Mail reads."""
        return self.model_dump(by_alias=True, exclude_unset=True) | {
            "MAIL_DEFAULT_SENDER": self.default_sender
        }
