"""A forgotten password: by the link of the mail, or by its code."""

from flask import Response, request

from ...auth import routes as auth_api
from ...auth.errors import InvalidProof
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk
from ...core.errors import Problem
from ...core.web.operation import anyone, hidden
from ..api_calls import ApiCall, calls_api
from ..pages import page
from ..texts import _
from ..ways import go


@anyone
@hidden
def forgot_page() -> Response:
    return page("visitor/forgot.html", email=request.args.get("email", ""))


@calls_api(auth_api.recover_password, refused=forgot_page)
def ask_for_reset(call_api: ApiCall) -> Response:
    call_api()
    return _code_page(_("We sent another email.") if "again" in request.form else "")


@anyone
@hidden
def reset_code_page() -> Response:
    """As it was sent; whoever comes by its address alone begins anew."""
    return _code_page() if "email" in request.form else go(".forgot_page")


@calls_api(auth_api.verify_token, refused=reset_code_page)
def check_reset_code(call_api: ApiCall) -> Response:
    call_api()
    return _password_page()


@anyone
@hidden
def reset_page() -> Response:
    """The link of the mail. One that counts no longer is told of before one types a password."""
    if request.method == "GET" and not _counts(request.args.get("token", "")):
        return page("visitor/reset_over.html")
    return _password_page()


@calls_api(auth_api.reset_password, refused=reset_page)
def choose_new_password(call_api: ApiCall) -> Response:
    call_api()
    return go(".sign_in_page", _("Password changed. Sign in with the new password."))


def _counts(token: str) -> bool:
    if not token:
        return False
    try:
        ApiCall(auth_api.verify_token, {})(json={"token": token})
    except InvalidProof:
        return False
    except Problem as problem:
        if problem.status == 422:
            return False
        raise
    return True


def _code_page(said: str = "") -> Response:
    auth = current_frontdesk.settings.of(AuthSettings)
    email = request.form.get("email", "")
    return page("visitor/reset_code.html", email=email, hides=auth.HIDE_ACCOUNTS, said=said)


def _password_page() -> Response:
    auth = current_frontdesk.settings.of(AuthSettings)
    given = request.values
    carried = {name: given[name] for name in ("token", "email") if name in given}
    return page("visitor/reset.html", carried=carried, password_length=auth.PASSWORD_MIN_LENGTH)
