"""Errors as pages. The API goes on answering problem documents."""

import logging
from http import HTTPStatus

from flask import Response, request
from werkzeug.exceptions import HTTPException

from ..accounts.models import DELETING
from ..accounts.service import Accounts
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
from ..core.web.problems import handle_http_exception, known_problem
from .api_calls import report
from .blueprint import dress
from .texts import _, words_of
from .ways import go_to, is_part, own_address, page_before, to

log = logging.getLogger(__name__)

_SIGN_IN = (InvalidCredentials, LoggedOut)
_SHOW_ONCE_MORE = (FreshSignInRequired, ReauthenticationRequired)


def answer_problem(problem: Problem) -> Response:
    report(problem)
    if isinstance(problem, _SIGN_IN):
        shut_out = _shut_out()
        if shut_out is None:
            return _lead_to(".sign_in_page")
        problem = shut_out
    if isinstance(problem, _SHOW_ONCE_MORE):
        return _lead_to(".confirm_page", factors="2" if "acr_values" in problem.members else None)
    if isinstance(problem, SecondFactorRequired):
        from .visitor.second_step import ask_for_factor

        return ask_for_factor(problem)
    if isinstance(problem, EnrolmentRequired):
        from .visitor.second_step import ask_for_enrolment

        return ask_for_enrolment(problem)
    return error_page(problem.status, words_of(problem), problem.headers.get("Retry-After"))


def _shut_out() -> Problem | None:
    """Where whoever was signed in here has an account that is not active any more: to be asked for
    a password would tell them nothing."""
    account_id = service(CookieSessions).find_account_id(request)
    account = None if account_id is None else service(Accounts).by_id(account_id)
    if account is None or service(Accounts).is_active(account):
        return None
    return AccountDeleting() if account.status == DELETING else InactiveCaller()


def answer_http_exception(error: HTTPException) -> Response:
    response = error.response
    if isinstance(response, Response):
        return response
    status = error.code or 500
    if status < 400:
        found = error.get_response()
        return Response(found.get_data(), status, list(found.headers))
    return error_page(status, _(HTTPStatus(status).phrase))


def answer_exception(error: Exception) -> Response:
    problem = known_problem(error)
    if problem is None:
        log.error("Unhandled %s on %s", type(error).__name__, request.path, exc_info=error)
        problem = Problem()
    return answer_problem(problem)


def error_page(status: int, text: str, retry_after: str | None = None) -> Response:
    from .pages import page

    response = page("error.html", status=status, number=status, text=text, request_id=request_id())
    if retry_after:
        response.headers["Retry-After"] = retry_after
    if is_part():
        # In the place of the page, and not of the part that was asked for.
        response.headers.update({"HX-Retarget": "body", "HX-Reswap": "innerHTML"})
    return response


def _lead_to(endpoint: str, **values: str | None) -> Response:
    """Away, and back to the page that was asked for, or whose form it was."""
    is_page = request.method == "GET" and not is_part()
    back = own_address() if is_page else page_before()
    path = to(endpoint, next=back or None, **values)
    if is_part():
        # A part of a page was asked for; what comes now is a whole one.
        return Response(status=401, headers={"HX-Redirect": path})
    return go_to(path)


def answer_elsewhere(error: HTTPException) -> Response:
    """Answer where the whole service has no route: a page for a browser, and a problem document for
    requests to the API and for programs."""
    prefix = find_context().settings.core.API_V1_STR
    is_of_api = f"{request.path}/".startswith(f"{prefix}/")
    if is_of_api or "text/html" not in request.headers.get("Accept", ""):
        return handle_http_exception(error)
    return dress(answer_http_exception(error))
