"""Going on with a session, by a refresh token."""

from __future__ import annotations

from typing import Any

from ...core.context import service
from ...core.web.answering import answers
from ...core.web.operation import anyone, example, raises
from ...core.web.reading import takes
from ..schemas import login_read
from . import examples
from .blueprint import blueprint
from .errors import InvalidGrant, UnsupportedGrant
from .refresh import Refresh
from .schemas import Grant

REFRESH_TOKEN = "refresh_token"


@blueprint.post("/token")
@anyone
@example(form=examples.GRANT, answer=examples.REFRESHED)
@raises(InvalidGrant, UnsupportedGrant)
@takes(form=Grant)
@answers(200, login_read)
def refresh(form: dict[str, Any]) -> dict[str, Any]:
    """Exchange a refresh token for an access token, and for the refresh token that follows it

    The same one is answered once more for some seconds. After that a token that was used ends the
    session: somebody has a copy of it.
    """
    if form["grant_type"] != REFRESH_TOKEN:
        raise UnsupportedGrant
    return service(Refresh).exchange(form["refresh_token"])
