"""Signing in by a code that is mailed. It counts only together with what the browser that asked has
been given, which stands in the form."""

from flask import Response, request

from ...auth.login_codes import routes as login_codes_api
from ...core.web.operation import anyone, hidden
from ..api_calls import ApiCall, calls_api
from ..pages import page, somebody_is_in
from ..texts import _
from ..ways import asked_next, go, go_to, to
from .arriving import arrive, arrived
from .confirm import code_mailed_page


@anyone
@hidden
def mailed_code_page() -> Response:
    if somebody_is_in():
        return go_to(asked_next(to(".dashboard")))
    return page("visitor/mailed_code.html", next=asked_next(""))


@calls_api(login_codes_api.ask_for_code, refused=mailed_code_page)
def ask_for_sign_in_code(call_api: ApiCall) -> Response:
    again = "again" in request.form
    answer = call_api()
    if "confirm" in request.form and somebody_is_in():
        return code_mailed_page(answer["login_id"])
    said = _("We sent another email. Only the newest code works.") if again else ""
    return _code_page(answer["login_id"], said)


@anyone
@hidden
def typed_code_page() -> Response:
    """As it was sent; whoever comes by its address alone begins anew."""
    if "login_id" not in request.form:
        return go(".mailed_code_page")
    return _code_page(request.form["login_id"])


@calls_api(login_codes_api.open_cookie_session_by_code, refused=typed_code_page)
def sign_in_by_code(call_api: ApiCall) -> Response:
    arrive()
    return arrived(call_api())


def _code_page(login_id: str, said: str = "") -> Response:
    carried = {"login_id": login_id, "email": request.form.get("email", ""), "next": asked_next("")}
    return page("visitor/mailed_code_sent.html", carried=carried, said=said)
