from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.context import service
from ...core.web.answering import answers
from ...core.web.fields import Page
from ...core.web.operation import example, raises, variables
from ...core.web.reading import takes
from ..caller import caller
from ..guards import account_required
from . import admin_routes as admin_routes
from . import cookie_routes as cookie_routes
from . import examples
from . import token_routes as token_routes
from .blueprint import blueprint as blueprint
from .by_cookie import forget_cookie
from .errors import SessionNotFound
from .own import OwnSession, OwnSessions
from .schemas import EndedSessions, EndSessions, SessionRead


@blueprint.get("/sessions")
@account_required
@example(answer=[examples.SESSION])
@takes(query=Page)
@answers(200, SessionRead, paged=True)
def list_sessions(query: dict[str, Any]) -> Sequence[OwnSession]:
    """List where the caller's account is signed in, the newest first"""
    return service(OwnSessions).list(caller(), caller().account, **query)


@blueprint.delete("/sessions")
@account_required
@example(answer=examples.ENDED)
@takes(query=EndSessions)
@answers(200, EndedSessions)
def end_sessions(query: dict[str, Any]) -> dict[str, int]:
    """End all of the caller's sessions, or all but the one that asks"""
    ended = service(OwnSessions).end_all(caller(), others=query["others"])
    if not query["others"]:
        forget_cookie()
    return {"ended": ended}


@blueprint.delete("/sessions/<session_id>")
@account_required
@variables(session_id="As `GET /sessions` tells it")
@example(answer=examples.SESSION)
@raises(SessionNotFound)
@answers(200, SessionRead)
def end_session(session_id: str) -> OwnSession:
    """End one of the caller's sessions, at once and everywhere; the answer is the ended one"""
    ended = service(OwnSessions).end(caller(), session_id)
    if ended.current:
        forget_cookie()
    return ended
