from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt, SecretStr

from ..core.config.field_types import Origin
from ..core.config.settings import Namespace


class AccountSettings(Namespace):
    """A part of the namespace AUTH."""

    ACTIVE_STATUSES: list[str] = Field(
        default=["active", "online"], description="Account statuses that count as active."
    )
    BCRYPT_ROUNDS: int = Field(
        default=12, ge=4, le=16, description="Cost of a password hash (log2)."
    )
    LOGINS_AT_ONCE: PositiveInt = Field(
        default=24,
        description="Sign-ins that one process works on or lets wait; others are answered 503."
        " Keep it below the server's number of threads.",
    )
    FOREIGN_PEPPERS: list[SecretStr] = Field(
        default=[],
        description="What Flask-Security had in `SECURITY_PASSWORD_SALT`, for the hashes that come"
        " from there. Each makes a wrong password one hash longer.",
    )
    PASSWORD_MIN_LENGTH: int = Field(
        default=8, ge=8, le=72, description="Characters that a password to be set has at the least."
    )
    COMMON_PASSWORDS: Literal["refuse", "allow"] = Field(
        default="refuse",
        description="Whether the three thousand commonest passwords, and those that the"
        " documentation has shown, may be chosen; commands only warn.",
    )
    PASSWORD_WORDS: list[str] = Field(
        default=[],
        description="Words of yours (products, places) that a password may not be made of, as"
        " `Otters2026!` is; the project's name and the owner's address count by themselves.",
    )
    BREACHED_PASSWORDS: Literal["off", "refuse"] = Field(
        default="off",
        description="refuse: passwords that Have I Been Pwned knows may not be chosen. It is told"
        " five digits of a hash, and where it does not answer within a second all may.",
    )
    BREACHED_PASSWORDS_URL: Origin = Field(
        default="https://api.pwnedpasswords.com",
        description="Another server that answers `/range/…` in the same way.",
    )
