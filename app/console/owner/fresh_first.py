"""Pages whose forms ask for a fresh sign-in ask for it before anything is typed."""

from collections.abc import Callable
from functools import wraps

from flask import Response, request

from ...auth.caller import caller
from ...auth.step_up.service import Freshness
from ...core.context import service
from ..ways import go_to, own_address, to

PageView = Callable[..., Response]


def fresh_first(view: PageView) -> PageView:
    """A sign-in of the last minutes, with a second factor where the account has one."""
    return _asking(view, lambda: not _is_fresh())


def factor_first(view: PageView) -> PageView:
    """Where the account has a second factor, that; a form that takes the password does the rest."""
    return _asking(view, lambda: _has_factor() and not _is_fresh())


def is_fresh() -> bool:
    """Whether the form may do without the password."""
    return service(Freshness).is_fresh(caller())


def _asking(view: PageView, is_to_be_asked: Callable[[], bool]) -> PageView:
    @wraps(view)
    def ask_or_show(**path: object) -> Response:
        if request.method != "GET" or not is_to_be_asked():
            return view(**path)
        factors = "2" if _has_factor() else None
        return go_to(to(".confirm_page", next=own_address(), factors=factors))

    return ask_or_show


def _has_factor() -> bool:
    return service(Freshness).has_factor(caller().account)


def _is_fresh() -> bool:
    return service(Freshness).is_fresh(caller(), factors=2 if _has_factor() else 1)
