"""Error pages. The API responds with problem documents instead."""

import logging
from http import HTTPStatus

from flask import Response, request
from werkzeug.exceptions import HTTPException

from ..accounts.models import DELETING
from ..accounts.service import Accounts
from ..auth.caller import known_caller
from ..auth.errors import (
    AccountDeleting,
    FreshSignInRequired,
    InactiveCaller,
    InvalidCredentials,
    LoggedOut,
    ReauthenticationRequired,
)
from ..auth.mfa.errors import EnrolmentRequired, SecondFactorRequired
from ..auth.sessions.cookie_sessions import CookieSessions
from ..core.context import find_context, service
from ..core.errors import Problem
from ..core.request import request_id
from ..core.web.paging import own_path
from ..core.web.problems import handle_http_exception, known_problem
from .api_calls import report
from .blueprint import add_page_headers
from .error_texts import message_for
from .kept_forms import keep_form, note_sign_out
from .links import current_path, has_page, is_fragment_request, link_to, previous_path, redirect
from .texts import _

log = logging.getLogger(__name__)

_SIGN_IN = (InvalidCredentials, LoggedOut)
_REAUTHENTICATE = (FreshSignInRequired, ReauthenticationRequired)


def handle_problem(problem: Problem) -> Response:
    report(problem)
    if isinstance(problem, _SIGN_IN):
        inactive = _find_inactive_account()
        if inactive is None:
            return note_sign_out(_redirect_and_return(".sign_in_page"), _return_path())
        problem = inactive
    known = known_caller()
    if isinstance(problem, _REAUTHENTICATE) and not (known and known.is_of_application):
        factors = "2" if "acr_values" in problem.members else None
        return keep_form(_redirect_and_return(".confirm_page", factors=factors), _return_path())
    if isinstance(problem, SecondFactorRequired):
        from .visitor.mfa_sign_in import ask_for_factor

        return ask_for_factor(problem)
    if isinstance(problem, EnrolmentRequired):
        from .visitor.mfa_sign_in import ask_for_enrolment

        return ask_for_enrolment(problem)
    return error_page(problem.status, message_for(problem), problem.headers.get("Retry-After"))


def _find_inactive_account() -> Problem | None:
    """Return the problem of a session with an inactive account: a new sign-in would fail too."""
    account_id = service(CookieSessions).find_account_id(request)
    account = None if account_id is None else service(Accounts).by_id(account_id)
    if account is None or service(Accounts).is_active(account):
        return None
    kind = AccountDeleting if account.status == DELETING else InactiveCaller
    return kind(note={"account_id": account.id})


def show_http_exception(error: HTTPException) -> Response:
    response = error.response
    if isinstance(response, Response):
        return response
    status = error.code or 500
    if status < 400:
        found = error.get_response()
        return Response(found.get_data(), status, list(found.headers))
    return error_page(status, _(HTTPStatus(status).phrase))


def handle_exception(error: Exception) -> Response:
    problem = known_problem(error)
    if problem is None:
        log.error("Unhandled %s on %s", type(error).__name__, request.path, exc_info=error)
        problem = Problem()
    return handle_problem(problem)


def error_page(status: int, text: str, retry_after: str | None = None) -> Response:
    from .pages import render_page

    response = render_page(
        "error.html", status=status, number=status, text=text, request_id=request_id()
    )
    if retry_after:
        response.headers["Retry-After"] = retry_after
    if is_fragment_request():
        # The error page replaces the whole page, not only the part.
        response.headers.update({"HX-Retarget": "body", "HX-Reswap": "innerHTML"})
    return response


def _redirect_and_return(endpoint: str, **values: str | None) -> Response:
    """Redirect to a page that returns to the requested page or to the page of the form."""
    path = link_to(endpoint, next=_return_path() or None, **values)
    if is_fragment_request():
        # A script requested a part of a page, but the target is a whole page.
        return Response(status=401, headers={"HX-Redirect": path})
    return redirect(path)


def _return_path() -> str:
    """Return the path of the requested page or of the page with the form, if it is known."""
    if request.method == "GET" and not is_fragment_request():
        return current_path()
    path = previous_path() or own_path()
    return path if has_page(path.partition("?")[0]) else ""


def handle_unrouted(error: HTTPException) -> Response:
    """Handle a path without a route: a page for browsers, a problem document for programs."""
    prefix = find_context().settings.core.API_V1_STR
    is_api_path = f"{request.path}/".startswith(f"{prefix}/")
    if is_api_path or "text/html" not in request.headers.get("Accept", ""):
        return handle_http_exception(error)
    return add_page_headers(show_http_exception(error))
