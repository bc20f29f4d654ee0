"""Sign-in with a password or a passkey, and sign-out."""

from flask import Response, request

from ...auth import routes as auth_api
from ...auth.passkeys import routes as passkeys_api
from ...auth.sessions import routes as sessions_api
from ...auth.sign_in.link import SignInLinks
from ...core.context import service
from ...core.web.operation import anyone
from ..api_calls import ApiCall, console_form
from ..kept_forms import delete_mark, sign_out_note
from ..links import link_to, next_path, redirect, redirect_to, set_notice
from ..navigation import home_path
from ..pages import expired_link_page, is_expired, is_signed_in, render_page
from ..pending_links import PendingLink
from ..providers import provider_links, title_of_page
from ..resources import ConsoleResources
from ..texts import _
from . import passkeys
from .cookie_sign_in import finish_sign_in
from .passkeys import sent_credential

MAX_EMAIL = 320


@anyone
def sign_in_page() -> Response:
    if is_signed_in():
        return redirect(next_path(home_path()))
    response = render_page(
        "visitor/sign_in.html",
        next=next_path(""),
        providers=provider_links(),
        # The provider of a link that the user confirms after this sign-in.
        linking=PendingLink.find().title if next_path("") == link_to(".link_page") else "",
        passkey_options=passkeys.options_to_sign_in(),
        sign_out_note=sign_out_note(),
    )
    return delete_mark(response)


@console_form(sessions_api.open_cookie_session, page=sign_in_page)
def sign_in(call_api: ApiCall) -> Response:
    return finish_sign_in(call_api)


@console_form(passkeys_api.open_cookie_session_by_passkey, page=sign_in_page)
def sign_in_by_passkey(call_api: ApiCall) -> Response:
    return finish_sign_in(call_api, json={"credential": sent_credential()})


@anyone
def sign_in_link_page() -> Response:
    """Show a button: a program that checks links does not use the link up."""
    if is_expired(lambda token: service(SignInLinks).proofs.find(token, None)):
        return expired_link_page(_("Ask the operator for a new one, or sign in another way."))
    return render_page("visitor/sign_in_link.html", token=request.values.get("token", ""))


@console_form(auth_api.login_by_link, page=sign_in_link_page)
def sign_in_by_link(call_api: ApiCall) -> Response:
    return finish_sign_in(call_api)


@console_form()
@anyone
def carry_email() -> Response:
    """Open another page for visitors with the email address that is in the form of sign-in."""
    if request.form.get("to") == "code":
        path = link_to(".mailed_code_page", next=next_path("") or None)
    else:
        path = link_to(".forgot_page")
    email = request.form.get("email", "")[:MAX_EMAIL].strip()
    return set_notice(redirect(path), "", email=email) if email else redirect(path)


@anyone
def signed_out_page() -> Response:
    """Redirect from the URL of the page that follows a sign-out, if it is loaded again."""
    return redirect_to(".sign_in_page")


@console_form(sessions_api.close_cookie_session)
def sign_out(call_api: ApiCall) -> Response:
    query = {"provider": "true"} if service(ConsoleResources).features.provider else {}
    if url := call_api(query=query).get("provider_logout_url"):
        title = title_of_page(url)
        return render_page("visitor/signed_out.html", provider=title, provider_url=url)
    return redirect_to(".sign_in_page", _("You are signed out."))
