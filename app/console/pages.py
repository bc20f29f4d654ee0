"""Making a page: its template, and what every template knows."""

from flask import Response

from ..accounts.models import AccountLike
from ..auth.caller import find_caller, known_caller
from ..core.context import service
from ..core.errors import Problem
from ..core.types import JsonObject
from .desk import Desk
from .navigation import navigation
from .ways import notice, take_notice

# Of such a mail: its styles are inline, nothing in it runs, and nothing is fetched for it.
FRAMED = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def page(template: str, *, status: int = 200, at: str = "", **context: object) -> Response:
    """`at` is the endpoint of the navigation's entry under which the page lies, where it is not one
    of its own."""
    return host_page(f"console/{template}", status=status, at=at, **context)


def host_page(template: str, *, status: int = 200, at: str = "", **context: object) -> Response:
    """Of a template anywhere, the host's own perhaps."""
    desk = service(Desk)
    text = _render(desk, template, **_whole(desk, at), **context)
    return take_notice(Response(text, status, mimetype="text/html"))


def framed(html: str) -> Response:
    """A mail as its reader sees it, for a frame of ours."""
    headers = {"Content-Security-Policy": FRAMED, "X-Frame-Options": "SAMEORIGIN"}
    return Response(html, mimetype="text/html", headers=headers)


def fragment(template: str, **context: object) -> Response:
    """A part of a page, for a script that asks for it alone: what stands around it is not read."""
    desk = service(Desk)
    text = _render(desk, f"console/{template}", me=_me(), **context)
    return Response(text, mimetype="text/html")


def _whole(desk: Desk, at: str) -> JsonObject:
    me = _me()
    my = None if me is None else desk.persons.find(me)
    return {"me": me, "my": my, "nav": navigation(at), "notice": notice()}


def _me() -> AccountLike | None:
    caller = known_caller()
    return None if caller is None else caller.account


def _render(desk: Desk, template: str, **context: object) -> str:
    found = desk.environment.get_template(template)
    return found.render(on=desk.on, brand=desk.brand, **context)


def somebody_is_in() -> bool:
    """For pages of whoever is not signed in: a cookie that counts no longer is nobody's."""
    try:
        return find_caller() is not None
    except Problem:
        return False
