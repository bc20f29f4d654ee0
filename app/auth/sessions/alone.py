"""Sessions for cookies alone: who signs in on our pages has one, and tokens are as where none are
kept.

Nothing else of this package is loaded before somebody does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Request

from ...accounts.models import AccountLike
from ...core.context import Context
from ..caller import Caller, Callers
from ..settings import AuthSettings
from ..sign_in.gate import Gate, Opened
from ..sign_in.log_out import LOGGED_OUT

if TYPE_CHECKING:
    from .cookie_door import CookieDoor
    from .service import Sessions


def assemble(context: Context) -> None:
    auth = context.settings.of(AuthSettings)
    if not context.owns_application:
        # Of the service's own tables its migrations tell, and nothing is made of its models.
        from .models import AccountSession

        context.bring(AccountSession)

    def open_room() -> None:
        from .assembly import furnish, make_door, make_sessions

        if not auth.keeps_sessions:
            make_sessions(context)
            furnish(context)
        make_door(context)

    def sessions() -> Sessions:
        from .service import Sessions

        return context.get(Sessions)

    def door() -> CookieDoor:
        from .cookie_door import CookieDoor

        return context.get(CookieDoor)

    def read(request: Request, optional: bool) -> Caller | None:
        # Asked of every request that has no token.
        if "HTTP_COOKIE" not in request.environ or context.pages.isdisjoint(request.blueprints):
            return None
        return door().read(request, optional)

    def opened(opened: Opened) -> None:
        if opened.session is not None:
            door().opened(opened)

    def logged_out(account: AccountLike, _: dict[str, Any]) -> None:
        door().logged_out(account)
        if not auth.keeps_sessions:
            # Their tokens may come back with the next login, and no cookie does.
            door().end_all(account)

    context.unopened.append(open_room)
    context.get(Callers).readers.append(read)
    gate = context.get(Gate)
    gate.cookie_sessions = sessions
    gate.opened.append(opened)
    context.emitter.on(LOGGED_OUT, logged_out)
