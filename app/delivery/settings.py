from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

from ..core.config.field_types import UrlPath
from ..core.config.settings import Namespace

DEFAULT_SENDER = "frontdesk@localhost"


class DeliverySettings(Namespace):
    """A part of the namespace NOTIFICATIONS."""

    DASHBOARD_PATH: UrlPath = Field(
        default="/dashboard",
        description="Path of the page that the link in a notification email opens.",
    )
    QUEUE: str = Field(default="frontdesk", description="Name of the Celery queue for deliveries.")


class DeliveryVariables(BaseSettings):
    """The settings of email and SMS, which have no prefix."""

    SMS_ACCOUNT_SID: str = Field(
        default="", description="Twilio account SID. If empty, no SMS is sent."
    )
    SMS_AUTH_TOKEN: SecretStr = Field(default=SecretStr(""), description="Twilio auth token.")
    SMS_PHONE_NUMBER: str = Field(
        default="", description="Phone number from which SMS are sent. Example: `+15005550006`."
    )
    SMS_API_URL: str = Field(
        default="",
        description="URL of an SMS gateway with Twilio's API. If empty, SMS are sent with Twilio.",
    )

    MAIL_SERVER: str = Field(
        default="",
        description="Host name of the SMTP server. If empty, emails are written to"
        " `instance/outbox`. Example: `smtp.example.com`.",
    )
    MAIL_PORT: int = Field(default=25, ge=1, le=65535, description="Port of the SMTP server.")
    MAIL_USE_TLS: bool = Field(
        default=False, description="Encrypt the connection to the SMTP server with STARTTLS."
    )
    MAIL_USE_SSL: bool = Field(
        default=False,
        description="Encrypt the connection to the SMTP server with TLS from the start.",
    )
    MAIL_USERNAME: str | None = Field(default=None, description="User name at the SMTP server.")
    MAIL_PASSWORD: SecretStr | None = Field(
        default=None, description="Password at the SMTP server."
    )
    MAIL_DEFAULT_SENDER: str = Field(
        default=DEFAULT_SENDER,
        description="Sender of all emails. Example: `Example <no-reply@example.com>`.",
    )
    MAIL_REPLY_TO: str | None = Field(
        default=None, description="Email address for replies. If unset, replies go to the sender."
    )
    MAIL_LOCAL_HOSTNAME: str | None = Field(
        default=None,
        description="Host name in the greeting to the SMTP server. Default: this"
        " machine's full name, otherwise the sender's domain.",
    )
    MAIL_SUPPRESS_SEND: bool = Field(default=False, description="Suppress all emails, for tests.")

    @field_validator(
        "MAIL_PORT", "MAIL_USE_TLS", "MAIL_USE_SSL", "MAIL_SUPPRESS_SEND", mode="before"
    )
    @classmethod
    def _empty_is_unset(cls, value: object, info: ValidationInfo) -> object:
        """Use the default for an empty variable (`MAIL_PORT=`)."""
        return cls.model_fields[str(info.field_name)].default if value == "" else value
