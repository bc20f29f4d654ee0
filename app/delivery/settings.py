from __future__ import annotations

from typing import Any

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

from ..core.config.field_types import UrlPath
from ..core.config.settings import Namespace

DEFAULT_SENDER = "frontdesk@localhost"


class DeliverySettings(Namespace):
    """A part of the namespace NOTIFICATIONS."""

    DASHBOARD_PATH: UrlPath = Field(
        default="/dashboard", description="Path of the link in notification emails."
    )
    QUEUE: str = Field(default="frontdesk", description="Name of the Celery queue.")


class DeliveryVariables(BaseSettings):
    """The settings of email and SMS, which have no prefix."""

    SMS_ACCOUNT_SID: str = Field(
        default="", description="Twilio account SID; empty: no SMS is sent."
    )
    SMS_AUTH_TOKEN: SecretStr = Field(default=SecretStr(""), description="Twilio auth token.")
    SMS_PHONE_NUMBER: str = Field(default="", description="Phone number that sends SMS.")
    SMS_API_URL: str = Field(
        default="", description="URL of a gateway with Twilio's API; empty: Twilio."
    )

    MAIL_SERVER: str = Field(
        default="", description="SMTP server; empty: emails go to instance/outbox."
    )
    MAIL_PORT: int = Field(default=25, ge=1, le=65535, description="SMTP port.")
    MAIL_USE_TLS: bool = Field(default=False, description="STARTTLS.")
    MAIL_USE_SSL: bool = Field(default=False, description="TLS from the start of the connection.")
    MAIL_USERNAME: str | None = Field(default=None, description="SMTP user.")
    MAIL_PASSWORD: SecretStr | None = Field(default=None, description="SMTP password.")
    MAIL_DEFAULT_SENDER: str = Field(default=DEFAULT_SENDER, description="Sender of all emails.")
    MAIL_REPLY_TO: str | None = Field(
        default=None, description="Address for replies; unset: the sender."
    )
    MAIL_LOCAL_HOSTNAME: str | None = Field(
        default=None,
        description="Host name in the greeting of the SMTP server; unset: this machine's name if it"
        " is fully qualified, else the sender's domain, else the IP address.",
    )
    MAIL_SUPPRESS_SEND: bool = Field(default=False, description="Send no email.")

    @field_validator(
        "MAIL_PORT", "MAIL_USE_TLS", "MAIL_USE_SSL", "MAIL_SUPPRESS_SEND", mode="before"
    )
    @classmethod
    def _empty_is_unset(cls, given: object, info: ValidationInfo) -> Any:
        """Use the default for an empty variable (`MAIL_PORT=`)."""
        return cls.model_fields[str(info.field_name)].default if given == "" else given
