"""The service's own settings, read from the environment or `.env`. See docs/settings.md."""

from __future__ import annotations

from pydantic import Field, SecretStr

from app.accounts.passwords import DEFAULT_PASSWORD
from app.extension.settings import ServiceSettings


class Settings(ServiceSettings):
    FIRST_SUPERUSER: str = Field(
        default="root@example.com", description="Email address of the first root account."
    )
    FIRST_SUPERUSER_PASSWORD: SecretStr = Field(
        default=SecretStr(DEFAULT_PASSWORD),
        description="Password of the first root account. Change the default.",
    )
