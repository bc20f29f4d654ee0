"""The second factor of a sign-in: entering it, or setting one up."""

from typing import Any

from flask import Response, request

from ...auth.mfa import routes as mfa_api
from ...auth.mfa import totp
from ...auth.passkeys import routes as passkeys_api
from ...auth.sessions.cookie_sessions import CookieSessions
from ...core.context import service
from ...core.errors import Problem
from ...core.types import JsonObject
from ...core.web.operation import anyone
from ..api_calls import ApiCall, console_form
from ..links import next_path, redirect_to
from ..navigation import home_path
from ..pages import render_page
from ..recovery_codes import show_recovery_codes
from ..texts import _
from . import passkeys
from .cookie_sign_in import finish_sign_in, prepare_sign_in, redirect_signed_in, trust_days
from .passkeys import sent_credential


def ask_for_factor(problem: Problem) -> Response:
    """Return the page that asks for the second factor after a correct first factor."""
    members = problem.members
    return _page(members["mfa_token"], members["methods"])


@anyone
def second_step_page() -> Response:
    """Show the rejected form again; without a form, redirect to the start."""
    if "mfa_token" not in request.form:
        return redirect_to(".sign_in_page")
    return _page(request.form["mfa_token"], request.form.get("methods", "").split())


@console_form(mfa_api.finish_cookie_session, page=second_step_page)
def finish_by_app(call_api: ApiCall) -> Response:
    return finish_sign_in(call_api)


@console_form(mfa_api.finish_cookie_session, page=second_step_page)
def finish_by_recovery_code(call_api: ApiCall) -> Response:
    return finish_sign_in(call_api)


@console_form(mfa_api.finish_cookie_session, page=second_step_page)
def finish_by_passkey(call_api: ApiCall) -> Response:
    body = {
        "mfa_token": request.form.get("mfa_token", ""),
        "credential": sent_credential(),
        "trust": request.form.getlist("trust")[-1:] == ["true"],
    }
    return finish_sign_in(call_api, json=body)


def _page(mfa_token: str, methods: list[str]) -> Response:
    carried = {"mfa_token": mfa_token, "methods": " ".join(methods), "next": next_path("")}
    return render_page(
        "visitor/second_step.html",
        carried=carried,
        methods=methods,
        trust_days=trust_days(),
        passkey_options=passkeys.options_to_sign_in(mfa_token) if "passkey" in methods else "",
    )


def ask_for_enrolment(problem: Problem) -> Response:
    """Return the page that sets up a second factor after a correct first factor."""
    # End the browser's session: it may be another user's.
    service(CookieSessions).sign_out()
    members = problem.members
    return _enrolment_page(members["mfa_token"], members["methods"])


@anyone
def enrolment_page() -> Response:
    """Show the rejected form again; without a form, redirect to the start."""
    if "mfa_token" not in request.form:
        return redirect_to(".sign_in_page")
    return _enrolment_page(request.form["mfa_token"], request.form.get("methods", "").split())


@console_form(mfa_api.begin_app, page=enrolment_page)
def begin_app_at_sign_in(call_api: ApiCall) -> Response:
    # The default name of the API is in English.
    body = {
        "name": _("Authenticator app").unescape(),
        "mfa_token": request.form.get("mfa_token", ""),
    }
    return _app_page(call_api(json=body))


@anyone
def app_at_sign_in_page(authenticator_id: int) -> Response:
    if "mfa_token" not in request.form:
        return redirect_to(".sign_in_page")
    secret, uri = (request.form.get(name, "") for name in ("secret", "uri"))
    # The page links to this URI: reject other schemes, such as `javascript:`.
    if not uri.startswith("otpauth://"):
        uri = ""
    shown = {"id": authenticator_id, "secret": secret, "uri": uri}
    return _app_page({**shown, "qr": totp.qr_code(uri) if uri else ""})


@console_form(mfa_api.confirm_app, page=app_at_sign_in_page)
def confirm_app_at_sign_in(call_api: ApiCall, authenticator_id: int) -> Response:
    prepare_sign_in()
    return _finish_enrolment(call_api())


@console_form(passkeys_api.add_passkey, page=enrolment_page)
def add_passkey_at_sign_in(call_api: ApiCall) -> Response:
    prepare_sign_in()
    name = request.form.get("name", "").strip() or str(_("Passkey"))
    body = {
        "name": name,
        "credential": sent_credential(),
        "mfa_token": request.form.get("mfa_token", ""),
    }
    return _finish_enrolment(call_api(json=body))


def _enrolment_page(mfa_token: str, methods: list[str]) -> Response:
    carried = {"mfa_token": mfa_token, "methods": " ".join(methods), "next": next_path("")}
    options = passkeys.options_to_enroll(mfa_token) if "passkey" in methods else ""
    return render_page(
        "visitor/enrolment.html", carried=carried, methods=methods, passkey_options=options
    )


def _app_page(app: JsonObject) -> Response:
    form = request.form
    carried = {name: form.get(name, "") for name in ("mfa_token", "methods", "next")}
    carried |= {"secret": app["secret"], "uri": app["uri"]}
    return render_page("visitor/enrolment_app.html", app=app, carried=carried)


def _finish_enrolment(result: Any) -> Response:
    codes = result.get("recovery_codes")
    if not codes:
        return redirect_signed_in(result)
    return show_recovery_codes(
        "visitor/recovery_codes.html",
        codes,
        result["account"].get("email", ""),
        next=next_path(home_path()),
    )
