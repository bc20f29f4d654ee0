from typing import Literal

from pydantic import Field, PositiveInt, SecretStr, field_validator

from ..core.config.field_types import Origin, Role
from ..core.config.settings import Namespace
from .models import ROLES


class AccountSettings(Namespace):
    """Settings of accounts in the namespace AUTH."""

    ACTIVE_STATUSES: list[str] = Field(
        default=["active", "online"], description="Statuses of accounts that can sign in."
    )
    ROLES: list[Role] = Field(
        default=[*ROLES],
        description="Roles in addition to `root`, `admin` and `user`, without administrative"
        ' rights. Example: `["accountant"]`.',
    )
    PASSWORDS: Literal["on", "off"] = Field(
        default="on",
        description="Whether accounts have passwords. `off` disables every route, command and page"
        " for passwords, and requires an identity provider or `AUTH__LOGIN_BY_CODE`.",
    )
    BCRYPT_ROUNDS: int = Field(
        default=12,
        ge=4,
        le=16,
        description="Cost of a bcrypt password hash, as a power of two. Each step doubles the"
        " time of a sign-in.",
    )
    LOGINS_AT_ONCE: PositiveInt = Field(
        default=24,
        description="Maximum number of sign-ins that a process checks or queues. Further"
        " sign-ins get a 503. Keep it below the server's number of threads.",
    )
    FOREIGN_PEPPERS: list[SecretStr] = Field(
        default=[],
        description="Values of Flask-Security's `SECURITY_PASSWORD_SALT` for imported password"
        " hashes. Each adds the time of one hash to a failed sign-in.",
    )
    PASSWORD_MIN_LENGTH: int = Field(
        default=8, ge=8, le=72, description="Minimum number of characters of a new password."
    )
    COMMON_PASSWORDS: Literal["refuse", "allow"] = Field(
        default="refuse",
        description="Whether to reject the 3,000 most common passwords and passwords from the"
        " documentation. Commands only warn.",
    )
    PASSWORD_WORDS: list[str] = Field(
        default=[],
        description="Words that a password must not consist of, in addition to the project name"
        ' and the account\'s email address. Example: `["otters"]` rejects'
        " `Otters2026!`.",
    )
    BREACHED_PASSWORDS: Literal["off", "refuse"] = Field(
        default="off",
        description="Whether to reject passwords from known data breaches (Have I Been Pwned)."
        " Without a response within a second, the password is accepted.",
    )
    BREACHED_PASSWORDS_URL: Origin = Field(
        default="https://api.pwnedpasswords.com",
        description="URL of a server with the API of Have I Been Pwned (`/range/…`), such as a"
        " mirror.",
    )

    @field_validator("ROLES")
    @classmethod
    def add_standard_roles(cls, names: list[str]) -> list[str]:
        return list(dict.fromkeys([*ROLES, *names]))

    @property
    def keeps_sessions(self) -> bool:
        """Return whether sign-ins are stored as sessions; settings of sessions override this."""
        return False
