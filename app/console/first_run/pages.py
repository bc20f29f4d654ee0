"""The page of the link that a server prints while there is no root account."""

from __future__ import annotations

from flask import Response, request

from ...auth.errors import InvalidProof
from ...core.context import find_context
from ...core.web.operation import anyone, hidden
from ..actions import Perform, performs
from ..pages import page
from ..texts import _
from ..ways import go
from .first_root import FirstRoot, RootExists


@anyone
@hidden
def first_root_page() -> Response:
    token = request.values.get("token", "")
    try:
        FirstRoot(find_context()).check(token)
    except RootExists as problem:
        return page("first_run/no_root.html", status=problem.status, is_over=True)
    except InvalidProof as problem:
        return page("first_run/no_root.html", status=problem.status, is_over=False)
    return page("first_run/first_root.html", token=token)


@performs("console.first_run.making.make_root", refused=first_root_page)
def make_first_root(perform: Perform) -> Response:
    if perform()["is_in"]:
        return go(".dashboard", _("You are in, and this account may do everything here."))
    return go(".sign_in_page", _("The account is made. Sign in with it."))
