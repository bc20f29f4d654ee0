"""Password reset with an emailed link or code."""

from flask import Response, request

from ...auth import routes as auth_api
from ...auth.decorators import passwords_required
from ...auth.errors import InvalidProof
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk
from ...core.errors import Problem
from ...core.web.operation import anyone
from ..api_calls import ApiCall, console_form, get_from_api
from ..links import redirect_to
from ..pages import render_page
from ..texts import _


@anyone
@passwords_required
def forgot_page() -> Response:
    return render_page("visitor/forgot.html", email=request.args.get("email", ""))


@console_form(auth_api.recover_password, page=forgot_page)
def ask_for_reset(call_api: ApiCall) -> Response:
    call_api()
    return _code_page(_("We sent another email.") if "again" in request.form else "")


@anyone
@passwords_required
def reset_code_page() -> Response:
    """Show the rejected form again; without a form, redirect to the start."""
    return _code_page() if "email" in request.form else redirect_to(".forgot_page")


@console_form(auth_api.verify_token, page=reset_code_page)
def check_reset_code(call_api: ApiCall) -> Response:
    call_api()
    return _password_page()


@anyone
@passwords_required
def reset_page() -> Response:
    """Show the form of the emailed link, or that the link has expired."""
    if request.method == "GET" and not _is_valid(request.args.get("token", "")):
        return render_page("visitor/reset_over.html")
    return _password_page()


@console_form(auth_api.reset_password, page=reset_page)
def choose_new_password(call_api: ApiCall) -> Response:
    call_api()
    return redirect_to(".sign_in_page", _("Password changed. Sign in with the new password."))


def _is_valid(token: str) -> bool:
    if not token:
        return False
    try:
        get_from_api(auth_api.verify_token, json={"token": token})
    except InvalidProof:
        return False
    except Problem as problem:
        if problem.status == 422:
            return False
        raise
    return True


def _code_page(message: str = "") -> Response:
    auth = current_frontdesk.settings.of(AuthSettings)
    email = request.form.get("email", "")
    return render_page(
        "visitor/reset_code.html", email=email, hides=auth.HIDE_ACCOUNTS, message=message
    )


def _password_page() -> Response:
    auth = current_frontdesk.settings.of(AuthSettings)
    values = request.values
    carried = {name: values[name] for name in ("token", "email") if name in values}
    return render_page(
        "visitor/reset.html", carried=carried, password_length=auth.PASSWORD_MIN_LENGTH
    )
