"""Between the first proof and being signed in: showing a second factor, or setting one up."""

from typing import Any

from flask import Response, request

from ...auth.mfa import routes as mfa_api
from ...auth.mfa import totp
from ...auth.passkeys import routes as passkeys_api
from ...auth.sessions.cookie_sessions import CookieSessions
from ...core.context import service
from ...core.errors import Problem
from ...core.types import JsonObject
from ...core.web.operation import anyone, hidden
from ..api_calls import ApiCall, calls_api
from ..pages import page
from ..texts import _
from ..ways import asked_next, go, to
from . import passkeys
from .arriving import arrive, arrived, trust_days
from .passkeys import sent_credential


def ask_for_factor(problem: Problem) -> Response:
    """The next page of somebody whose first proof was right."""
    members = problem.members
    return _page(members["mfa_token"], members["methods"])


@anyone
@hidden
def second_step_page() -> Response:
    """As it was sent; whoever comes by its address alone begins anew."""
    if "mfa_token" not in request.form:
        return go(".sign_in_page")
    return _page(request.form["mfa_token"], request.form.get("methods", "").split())


@calls_api(mfa_api.finish_cookie_session, refused=second_step_page)
def finish_by_app(call_api: ApiCall) -> Response:
    arrive()
    return arrived(call_api())


@calls_api(mfa_api.finish_cookie_session, refused=second_step_page)
def finish_by_recovery_code(call_api: ApiCall) -> Response:
    arrive()
    return arrived(call_api())


@calls_api(mfa_api.finish_cookie_session, refused=second_step_page)
def finish_by_passkey(call_api: ApiCall) -> Response:
    arrive()
    given = {
        "mfa_token": request.form.get("mfa_token", ""),
        "credential": sent_credential(),
        "trust": request.form.getlist("trust")[-1:] == ["true"],
    }
    return arrived(call_api(json=given))


def _page(mfa_token: str, methods: list[str]) -> Response:
    carried = {"mfa_token": mfa_token, "methods": " ".join(methods), "next": asked_next("")}
    return page(
        "visitor/second_step.html",
        carried=carried,
        methods=methods,
        trust_days=trust_days(),
        passkey_options=passkeys.options_to_sign_in(mfa_token) if "passkey" in methods else "",
    )


def ask_for_enrolment(problem: Problem) -> Response:
    """The next page of somebody whose first proof was right, and who has nothing else to show."""
    # Whoever was in here before is somebody else, or is to sign in anew.
    service(CookieSessions).sign_out()
    members = problem.members
    return _enrolment_page(members["mfa_token"], members["methods"])


@anyone
@hidden
def enrolment_page() -> Response:
    """As it was sent; whoever comes by its address alone begins anew."""
    if "mfa_token" not in request.form:
        return go(".sign_in_page")
    return _enrolment_page(request.form["mfa_token"], request.form.get("methods", "").split())


@calls_api(mfa_api.begin_app, refused=enrolment_page)
def begin_app_at_sign_in(call_api: ApiCall) -> Response:
    return _app_page(call_api())


@anyone
@hidden
def app_at_sign_in_page(authenticator_id: int) -> Response:
    if "mfa_token" not in request.form:
        return go(".sign_in_page")
    secret, uri = (request.form.get(name, "") for name in ("secret", "uri"))
    # The page links to this address: no other scheme, such as `javascript:`, may get there.
    if not uri.startswith("otpauth://"):
        uri = ""
    shown = {"id": authenticator_id, "secret": secret, "uri": uri}
    return _app_page({**shown, "qr": totp.qr_code(uri) if uri else ""})


@calls_api(mfa_api.confirm_app, refused=app_at_sign_in_page)
def confirm_app_at_sign_in(call_api: ApiCall, authenticator_id: int) -> Response:
    arrive()
    return _enrolled(call_api())


@calls_api(passkeys_api.add_passkey, refused=enrolment_page)
def add_passkey_at_sign_in(call_api: ApiCall) -> Response:
    arrive()
    named = request.form.get("name", "").strip() or str(_("Passkey"))
    given = {
        "name": named,
        "credential": sent_credential(),
        "mfa_token": request.form.get("mfa_token", ""),
    }
    return _enrolled(call_api(json=given))


def _enrolment_page(mfa_token: str, methods: list[str]) -> Response:
    carried = {"mfa_token": mfa_token, "methods": " ".join(methods), "next": asked_next("")}
    options = passkeys.options_to_enrol(mfa_token) if "passkey" in methods else ""
    return page("visitor/enrolment.html", carried=carried, methods=methods, passkey_options=options)


def _app_page(made: JsonObject) -> Response:
    form = request.form
    carried = {name: form.get(name, "") for name in ("mfa_token", "methods", "next")}
    carried |= {"secret": made["secret"], "uri": made["uri"]}
    return page("visitor/enrolment_app.html", made=made, carried=carried)


def _enrolled(answer: Any) -> Response:
    """The codes are shown here for the last time, so that no redirect may come in between."""
    codes = answer.get("recovery_codes")
    if not codes:
        return arrived(answer)
    return page("visitor/recovery_codes.html", codes=codes, next=asked_next(to(".dashboard")))
