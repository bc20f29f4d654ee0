from datetime import timedelta
from typing import Literal, NamedTuple

from pydantic import Field, NonNegativeInt, PositiveInt

from ...accounts.settings import AccountSettings


class SessionLimits(NamedTuple):
    """The limits of a session, which ends at whichever is reached first."""

    # The longest time since the sign-in.
    longest: timedelta
    # The longest time without use.
    idle: timedelta


class SessionSettings(AccountSettings):
    """Settings of sessions in the namespace AUTH."""

    SESSIONS: Literal["off", "on"] = Field(
        default="off",
        description="Store each sign-in as a session that users can list and revoke. An access"
        " token is valid only while its session is.",
    )
    SESSION_DAYS: PositiveInt = Field(
        default=30, description="Days after which a session ends, even if it is used."
    )
    SESSION_IDLE_DAYS: PositiveInt = Field(
        default=7, description="Days without use after which a session ends."
    )
    SESSION_ADDRESSES: Literal["full", "network", "none"] = Field(
        default="network",
        description="What a session stores of the client's IP address: all of it, its network"
        " (/24 for IPv4, /48 for IPv6), or nothing.",
    )
    REFRESH_TOKEN_DAYS: NonNegativeInt = Field(
        default=0,
        description="Days for which a refresh token is valid. `0` disables refresh tokens.",
    )
    REFRESH_REUSE_SECONDS: NonNegativeInt = Field(
        default=30,
        description="Seconds for which a used refresh token returns the same new token, for"
        " parallel requests and lost responses. Later reuse ends the session.",
    )
    REFRESH_ALWAYS: bool = Field(
        default=False,
        description="Return a refresh token for every sign-in. If `false`, clients request a"
        " refresh token with the header `Prefer: refresh`.",
    )
    COOKIE_SESSIONS: Literal["off", "alone", "on"] = Field(
        default="off",
        description="Cookie sessions. `on` enables `POST /session` and `AUTH__SESSIONS`."
        " `alone` enables cookies only for the console's pages. In a service with"
        " the console, `off` means `alone`.",
    )
    COOKIE_DOMAIN: str = Field(
        default="",
        pattern=r"^(\.?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+)?$",
        description="Domain whose hosts receive the session cookie. If empty, only the host"
        " that set the cookie. Example: `example.com`.",
    )
    COOKIE_SAMESITE: Literal["Lax", "Strict"] = Field(
        default="Lax", description="`SameSite` attribute of the session cookie."
    )

    @property
    def session_limits(self) -> SessionLimits:
        return SessionLimits(
            timedelta(days=self.SESSION_DAYS), timedelta(days=self.SESSION_IDLE_DAYS)
        )

    @property
    def refreshes(self) -> bool:
        return self.keeps_sessions and self.REFRESH_TOKEN_DAYS > 0

    @property
    def keeps_sessions(self) -> bool:
        """Return whether sign-ins are stored as sessions, by token or by cookie."""
        return "on" in (self.SESSIONS, self.COOKIE_SESSIONS)

    @property
    def keeps_cookies(self) -> bool:
        return self.COOKIE_SESSIONS != "off"

    @property
    def stores_sessions(self) -> bool:
        """Return whether some sign-ins are stored as sessions, by an API or by pages."""
        return self.keeps_sessions or self.keeps_cookies
