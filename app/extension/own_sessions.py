"""The sessions of the caller's account, for pages of an application: `frontdesk.sessions`."""

from collections.abc import Sequence

from ..auth.caller import caller
from ..auth.sessions.cookie_sessions import forget_cookie
from ..auth.sessions.management import OwnSession, SessionManagement
from ..core.context import current_frontdesk, service
from ..core.errors import SetupError


class CallerSessions:
    """The sessions of the caller's account, as the routes `/sessions` show them.

    Use it as `frontdesk.sessions` in views with an authentication decorator.

    Example::

        @app.get("/devices")
        @active_account_required
        def devices():
            return render_template("devices.html", sessions=frontdesk.sessions.list())
    """

    def list(self, *, offset: int = 0, limit: int = 100) -> Sequence[OwnSession]:
        """Return the active sessions of the caller, newest first.

        Args:
            offset: Number of sessions to skip.
            limit: Maximum number of sessions.

        Returns:
            The sessions; `current` marks the session of this request.

        Example::

            others = [each for each in frontdesk.sessions.list() if not each.current]
        """
        return _sessions().list(caller(), caller().account, offset, limit)

    def end(self, session_id: str) -> OwnSession:
        """End one session of the caller.

        Args:
            session_id: The `id` of the session.

        Returns:
            The session.

        Raises:
            SessionNotFound: The caller has no active session with this id.

        Example::

            frontdesk.sessions.end(session_id)
        """
        ended = _sessions().end(caller(), caller().account, session_id)
        if ended.current:
            forget_cookie()
        return ended

    def end_all(self, *, others: bool = False) -> int:
        """End all sessions of the caller.

        Args:
            others: Keep the session of this request.

        Returns:
            The number of ended sessions.

        Example::

            count = frontdesk.sessions.end_all(others=True)
        """
        count = _sessions().end_all(caller(), others=others)
        if not others:
            forget_cookie()
        return count


def _sessions() -> SessionManagement:
    if not current_frontdesk.provides(SessionManagement):
        raise SetupError("This application stores no sessions: set AUTH.SESSIONS to `on`.")
    return service(SessionManagement)
