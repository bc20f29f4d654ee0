"""The service's own settings, read from the environment or `.env`. See docs/settings.md."""

from __future__ import annotations

from pydantic import Field, SecretStr

from app.core.settings import ComposedSettings

DEFAULT_PASSWORD = "changethis"


class Settings(ComposedSettings):
    FIRST_SUPERUSER: str = Field("root@example.com", description="E-mail of the first root.")
    FIRST_SUPERUSER_PASSWORD: SecretStr = Field(
        SecretStr(DEFAULT_PASSWORD), description="Its password; must not stay the default."
    )

    SMS_ACCOUNT_SID: str = Field("", description="Twilio account; empty: no SMS is sent.")
    SMS_AUTH_TOKEN: SecretStr = Field(SecretStr(""), description="Twilio token.")
    SMS_PHONE_NUMBER: str = Field("", description="The number that SMS are sent from.")
    SMS_API_URL: str = Field("", description="A gateway in Twilio's shape; empty: Twilio.")

    MAIL_SERVER: str = Field("", description="SMTP server; empty: mails go to instance/outbox.")
    MAIL_PORT: int = Field(25, ge=1, le=65535, description="SMTP port.")
    MAIL_USE_TLS: bool = Field(False, description="STARTTLS.")
    MAIL_USE_SSL: bool = Field(False, description="TLS from the first byte.")
    MAIL_USERNAME: str | None = Field(None, description="SMTP user.")
    MAIL_PASSWORD: SecretStr | None = Field(None, description="SMTP password.")
    MAIL_DEFAULT_SENDER: str = Field("frontdesk@localhost", description="Sender of every mail.")
