"""Sign-in with a one-time code by email. The code is valid only with the `login_id` of the browser
that requested it, which is in the form."""

from flask import Response, request

from ...auth.login_codes import routes as login_codes_api
from ...core.web.operation import anyone
from ..api_calls import ApiCall, console_form
from ..links import next_path, redirect, redirect_to
from ..navigation import home_path
from ..pages import is_signed_in, render_page
from ..texts import _
from .confirm import emailed_code_page
from .cookie_sign_in import finish_sign_in


@anyone
def mailed_code_page() -> Response:
    if is_signed_in():
        return redirect(next_path(home_path()))
    return render_page("visitor/mailed_code.html", next=next_path(""))


@console_form(login_codes_api.ask_for_code, page=mailed_code_page)
def ask_for_sign_in_code(call_api: ApiCall) -> Response:
    again = "again" in request.form
    result = call_api()
    if "confirm" in request.form and is_signed_in():
        return emailed_code_page(result["login_id"])
    text = _("We sent another email. Only the newest code works.") if again else ""
    return _code_page(result["login_id"], text)


@anyone
def typed_code_page() -> Response:
    """Show the rejected form again; without a form, redirect to the start."""
    if "login_id" not in request.form:
        return redirect_to(".mailed_code_page")
    return _code_page(request.form["login_id"])


@console_form(login_codes_api.open_cookie_session_by_code, page=typed_code_page)
def sign_in_by_code(call_api: ApiCall) -> Response:
    return finish_sign_in(call_api)


def _code_page(login_id: str, message: str = "") -> Response:
    carried = {"login_id": login_id, "email": request.form.get("email", ""), "next": next_path("")}
    return render_page("visitor/mailed_code_sent.html", carried=carried, message=message)
