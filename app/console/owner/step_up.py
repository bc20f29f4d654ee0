"""Decorators of pages that require re-authentication before they show their form."""

from collections.abc import Callable
from functools import wraps

from flask import Response, request

from ...auth.caller import caller
from ...auth.step_up.service import Freshness
from ...core.context import service
from ..links import current_path, link_to, redirect

PageView = Callable[..., Response]


def require_recent_sign_in(view: PageView) -> PageView:
    """Require a recent sign-in, with a second factor if the account has one."""
    return _redirect_if(view, lambda: not _is_fresh())


def require_second_factor(view: PageView) -> PageView:
    """Require the second factor if the account has one; the form asks for the password."""
    return _redirect_if(view, lambda: _has_factor() and not _is_fresh())


def is_fresh() -> bool:
    """Return whether the form needs no password."""
    return service(Freshness).is_fresh(caller())


def _redirect_if(view: PageView, is_required: Callable[[], bool]) -> PageView:
    @wraps(view)
    def confirm_or_show(**path: object) -> Response:
        if request.method != "GET" or not is_required():
            return view(**path)
        factors = "2" if _has_factor() else None
        return redirect(link_to(".confirm_page", next=current_path(), factors=factors))

    return confirm_or_show


def _has_factor() -> bool:
    return service(Freshness).has_factor(caller().account)


def _is_fresh() -> bool:
    return service(Freshness).is_fresh(caller(), factors=2 if _has_factor() else 1)
