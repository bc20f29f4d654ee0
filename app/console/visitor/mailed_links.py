"""What else the links of our mails lead to. Scanners open them too, so that each page asks for a
press on its button before anything is done."""

from flask import Response, request

from ...auth import account_routes as account_api
from ...auth.errors import FreshSignInRequired, ReauthenticationRequired
from ...core.web.operation import anyone, hidden
from ...deletion import routes as deletion_api
from ..api_calls import ApiCall, calls_api, report
from ..pages import page, somebody_is_in
from ..texts import _
from ..ways import go, go_to, to
from .arriving import arrive, arrived


@anyone
@hidden
def confirm_email_page() -> Response:
    return page("visitor/confirm_email.html", token=_token(), asks_password=not somebody_is_in())


@calls_api(account_api.confirm_email_change, refused=confirm_email_page)
def confirm_new_email(call_api: ApiCall) -> Response:
    arrive()
    try:
        signed_in = call_api()
    except (FreshSignInRequired, ReauthenticationRequired) as problem:
        report(problem)
        # The page's script has removed the token from the page's own URL.
        here = to(".confirm_email_page", token=_token())
        if not somebody_is_in():
            return go_to(to(".sign_in_page", next=here))
        return go_to(to(".confirm_page", next=here, factors="2"))
    return arrived(signed_in, _("New email address confirmed. Sign in with it from now on."))


@anyone
@hidden
def undo_email_page() -> Response:
    return page("visitor/undo_email.html", token=_token())


@calls_api(account_api.undo_email_change, refused=undo_email_page)
def undo_new_email(call_api: ApiCall) -> Response:
    call_api()
    return page("visitor/email_undone.html")


@anyone
@hidden
def keep_account_page() -> Response:
    return page("visitor/keep_account.html", token=_token())


@calls_api(deletion_api.restore_account, refused=keep_account_page)
def keep_account(call_api: ApiCall) -> Response:
    call_api()
    return go(".sign_in_page", _("Your account was restored. Welcome back."))


def _token() -> str:
    return request.values.get("token", "")
