from __future__ import annotations

from datetime import timedelta
from typing import Literal, NamedTuple

from pydantic import Field, NonNegativeInt, PositiveInt

from ...accounts.settings import AccountSettings


class SessionLimits(NamedTuple):
    """Every session ends by both, whichever comes first."""

    # After its sign-in.
    longest: timedelta
    # Without use.
    idle: timedelta


class SessionSettings(AccountSettings):
    """A part of the namespace AUTH."""

    SESSIONS: Literal["off", "on"] = Field(
        default="off",
        description="on: each sign-in is a row that can be listed and ended, and a token counts"
        " while its row does.",
    )
    SESSION_DAYS: PositiveInt = Field(
        default=30, description="Days after which a session ends, however much it is used."
    )
    SESSION_IDLE_DAYS: PositiveInt = Field(
        default=7, description="Days without use after which a session ends."
    )
    SESSION_ADDRESSES: Literal["full", "network", "none"] = Field(
        default="network",
        description="What a session keeps of the address that it was begun from: `network` is its"
        " /24, or the /48 of IPv6.",
    )
    REFRESH_TOKEN_DAYS: NonNegativeInt = Field(
        default=0,
        description="Life of a refresh token, for clients that ask for one; 0: there are none.",
    )
    REFRESH_REUSE_SECONDS: NonNegativeInt = Field(
        default=30,
        description="Seconds in which a refresh token that was used is answered with the same"
        " successor: tabs ask at once, and answers are lost. After that it ends the session.",
    )
    REFRESH_ALWAYS: bool = Field(
        default=False, description="On: who signs in need not say `Prefer: refresh` to get one."
    )
    COOKIE_SESSIONS: Literal["off", "alone", "on"] = Field(
        default="off",
        description="on: `POST /session` signs in by a cookie. It brings SESSIONS along. alone: the"
        " console's pages alone do, and tokens are as they are without; where the service has the"
        " console, off is that.",
    )
    COOKIE_DOMAIN: str = Field(
        default="",
        pattern=r"^(\.?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+)?$",
        description="Domain whose hosts all get the cookie; empty: only the host that set it.",
    )
    COOKIE_SAMESITE: Literal["Lax", "Strict"] = Field(
        default="Lax", description="The cookie's SameSite."
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
        """Whether sign-ins are stored as sessions, by token or by cookie."""
        return "on" in (self.SESSIONS, self.COOKIE_SESSIONS)

    @property
    def keeps_cookies(self) -> bool:
        return self.COOKIE_SESSIONS != "off"
