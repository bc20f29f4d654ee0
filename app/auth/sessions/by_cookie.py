"""For routes that sign in by a cookie, in whichever room they lie.

Such a route is written `@blueprint.post("/session/…", only_with=CookieDoor)`, with
`@signs_in_by_cookie` below `@anyone`, and answers `cookie_session_read`.
"""

from __future__ import annotations

from typing import Any

from ...core.context import service
from ..caller import caller
from ..guards import guard
from ..sign_in.entrance import COOKIE_WAY
from ..sign_in.gate import Challenge, Opened, payload_of
from .cookie_door import CookieDoor
from .cross_site import CrossSite


@guard(CrossSite, bearer=False)
def signs_in_by_cookie() -> None:
    """For a route that ends in `answer_with_cookie`: whom it lets in is known by a cookie."""
    service(CookieDoor).enter()


def answer_with_cookie(outcome: Opened | Challenge) -> dict[str, Any]:
    """What a route answers that signs in by a cookie, which the gate has given with the session."""
    return payload_of(outcome)


def forget_cookie() -> None:
    """The caller's own session has ended: if it is a cookie that names it, that goes too."""
    if caller().via == COOKIE_WAY:
        service(CookieDoor).cookies.take_away()
