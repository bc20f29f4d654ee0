"""The service's own settings, read from the environment or `.env`. See docs/settings.md."""

from __future__ import annotations

from pydantic import Field, SecretStr

from app.accounts.passwords import DEFAULT_PASSWORD
from app.extension.settings import ComposedSettings


class Settings(ComposedSettings):
    SHARES_ENVIRONMENT = False

    FIRST_SUPERUSER: str = Field(
        default="root@example.com", description="E-mail of the first root."
    )
    FIRST_SUPERUSER_PASSWORD: SecretStr = Field(
        default=SecretStr(DEFAULT_PASSWORD), description="Its password; must not stay the default."
    )

    SMS_ACCOUNT_SID: str = Field(default="", description="Twilio account; empty: no SMS is sent.")
    SMS_AUTH_TOKEN: SecretStr = Field(default=SecretStr(""), description="Twilio token.")
    SMS_PHONE_NUMBER: str = Field(default="", description="The number that SMS are sent from.")
    SMS_API_URL: str = Field(default="", description="A gateway in Twilio's shape; empty: Twilio.")

    MAIL_SERVER: str = Field(
        default="", description="SMTP server; empty: mails go to instance/outbox."
    )
    MAIL_PORT: int = Field(default=25, ge=1, le=65535, description="SMTP port.")
    MAIL_USE_TLS: bool = Field(default=False, description="STARTTLS.")
    MAIL_USE_SSL: bool = Field(default=False, description="TLS from the first byte.")
    MAIL_USERNAME: str | None = Field(default=None, description="SMTP user.")
    MAIL_PASSWORD: SecretStr | None = Field(default=None, description="SMTP password.")
    MAIL_DEFAULT_SENDER: str = Field(
        default="frontdesk@localhost", description="Sender of every mail."
    )
    MAIL_REPLY_TO: str | None = Field(
        default=None, description="Where answers go; unset: to the sender."
    )
    MAIL_LOCAL_HOSTNAME: str | None = Field(
        default=None,
        description="The name that we greet the SMTP server with; unset: this machine's if it is a"
        " full one, else the sender's domain, else the address.",
    )
