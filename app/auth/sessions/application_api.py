"""The sessions of the caller's account, for pages of an application: `frontdesk.sessions`."""

from collections.abc import Sequence

from ...core.context import current_frontdesk, service
from ...core.errors import SetupError
from ..caller import caller
from .cookie_sessions import forget_cookie
from .management import OwnSession, SessionManagement


class CallerSessions:
    """The functions of the routes `/sessions`, for views with an authentication decorator."""

    def list(self, *, offset: int = 0, limit: int = 100) -> Sequence[OwnSession]:
        """The active sessions, the newest first. `current` is the one of this request."""
        return _sessions().list(caller(), caller().account, offset, limit)

    def end(self, session_id: str) -> OwnSession:
        """End one session and return it. Raises `SessionNotFound`."""
        ended = _sessions().end(caller(), session_id)
        if ended.current:
            forget_cookie()
        return ended

    def end_all(self, *, others: bool = False) -> int:
        """End all sessions, or all but the one of this request, and return how many there were."""
        count = _sessions().end_all(caller(), others=others)
        if not others:
            forget_cookie()
        return count


def _sessions() -> SessionManagement:
    if SessionManagement not in current_frontdesk.services:
        raise SetupError("This application stores no sessions: set AUTH.SESSIONS to on.")
    return service(SessionManagement)
