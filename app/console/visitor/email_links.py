"""Pages of other emailed links. Email scanners open links too, so each page changes something only
after its button is pressed."""

from flask import Response, request

from ...auth import account_routes as account_api
from ...auth.caller import caller
from ...auth.email_change.service import EmailChanges
from ...auth.email_change.undo import EmailChangeUndo
from ...auth.errors import FreshSignInRequired, ReauthenticationRequired
from ...core.context import current_frontdesk, service
from ...core.types import AccountKey, JsonObject
from ...core.web.operation import anyone
from ...deletion import routes as deletion_api
from ...deletion.service import Deletion
from ..api_calls import ApiCall, console_form, report
from ..cookies import delete_cookie, read_cookie, set_cookie
from ..links import link_to, redirect, redirect_to
from ..pages import expired_link_page, is_expired, is_signed_in, render_page
from ..texts import _
from ..tokens import path_to_tokens
from .cookie_sign_in import prepare_sign_in, redirect_signed_in

# Has the token while the user signs in, so that it is in no URL but the emailed one.
_WAITING = "fd-email-link"
_WAITING_SECONDS = 30 * 60


@anyone
def confirm_email_page() -> Response:
    changes = service(EmailChanges).proofs
    given = _token() or read_cookie(_WAITING) or ""
    if is_expired(lambda token: changes.find(token, None, None), given):
        text = _("The link was used, has expired, or was replaced by a newer one.")
        if is_signed_in():
            return expired_link_page(text, _("Go to your email address"), ".email_page")
        return expired_link_page(text)
    if is_signed_in() and is_expired(
        lambda token: changes.find(token, None, caller().account.id), given
    ):
        return render_page("visitor/other_account.html")
    return render_page("visitor/confirm_email.html", token=given, asks_password=not is_signed_in())


@console_form(account_api.confirm_email_change, page=confirm_email_page)
def confirm_new_email(call_api: ApiCall) -> Response:
    prepare_sign_in()
    try:
        signed_in = call_api()
    except (FreshSignInRequired, ReauthenticationRequired) as problem:
        report(problem)
        here = link_to(".confirm_email_page")
        sign_in = link_to(".sign_in_page", next=here)
        again = link_to(".confirm_page", next=here, factors="2")
        response = redirect(again if is_signed_in() else sign_in)
        set_cookie(response, _WAITING, _token(), _WAITING_SECONDS)
        return response
    text = _("New email address confirmed. Sign in with it from now on.")
    response = redirect_signed_in(signed_in, text, path_to_tokens(_account_id(signed_in)))
    delete_cookie(response, _WAITING)
    return response


@anyone
def undo_email_page() -> Response:
    if is_expired(service(EmailChangeUndo).proofs.find_undoable):
        return expired_link_page(_("The link was used or has expired."))
    return render_page("visitor/undo_email.html", token=_token())


@console_form(account_api.undo_email_change, page=undo_email_page)
def undo_new_email(call_api: ApiCall) -> Response:
    call_api()
    return render_page("visitor/email_undone.html")


@anyone
def keep_account_page() -> Response:
    if is_expired(service(Deletion).scheduled_by):
        return expired_link_page(
            _("The account was restored or deleted, or the link was replaced by a newer one.")
        )
    return render_page("visitor/keep_account.html", token=_token())


@console_form(deletion_api.restore_account, page=keep_account_page)
def keep_account(call_api: ApiCall) -> Response:
    call_api()
    return redirect_to(".sign_in_page", _("Your account was restored. Welcome back."))


def _account_id(signed_in: JsonObject) -> AccountKey | None:
    """Return the id in the response of a sign-in, which an application may have replaced."""
    found = (signed_in.get("account") or {}).get("id")
    return None if found is None else current_frontdesk.tables.account_ids.from_path(str(found))


def _token() -> str:
    return request.values.get("token", "")
