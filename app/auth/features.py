"""What the features of authentication that can be switched off give to signing in.

Each is in the application's context before the services that sign in are built, or is off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .step_up.service import Renew

if TYPE_CHECKING:
    from .sessions.service import Sessions


@dataclass(frozen=True)
class SessionFeature:
    """AUTH.SESSIONS and AUTH.COOKIE_SESSIONS."""

    sessions: Sessions
    # Off: sign-ins by cookie alone have a session.
    for_every_sign_in: bool
    renew: Renew
