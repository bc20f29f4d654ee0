"""Setting a second factor up before one is in at all, where the account must have one."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from ...auth.mfa import totp
from ...auth.sessions.cookie_door import CookieDoor
from ...core.context import service
from ...core.errors import Problem
from ...core.web.operation import anyone, hidden
from ..actions import Perform, performs
from ..pages import page
from ..texts import _
from ..ways import asked_next, go, to
from . import passkey_options
from .arriving import arrive, arrived
from .passkeys import sent_credential


def ask_for_enrolment(problem: Problem) -> Response:
    """The next page of somebody whose first proof was right, and who has nothing else to show."""
    # Whoever was in here before is somebody else, or is to sign in anew.
    service(CookieDoor).leave()
    members = problem.members
    return _page(members["mfa_token"], members["methods"])


@anyone
@hidden
def enrolment_page() -> Response:
    """As it was sent; whoever comes by its address alone begins anew."""
    if "mfa_token" not in request.form:
        return go(".sign_in_page")
    return _page(request.form["mfa_token"], request.form.get("methods", "").split())


@performs("auth.mfa.routes.begin_app", refused=enrolment_page)
def begin_app_at_sign_in(perform: Perform) -> Response:
    return _app_page(perform())


@anyone
@hidden
def app_at_sign_in_page(authenticator_id: int) -> Response:
    if "mfa_token" not in request.form:
        return go(".sign_in_page")
    secret, uri = (request.form.get(name, "") for name in ("secret", "uri"))
    shown = {"id": authenticator_id, "secret": secret, "uri": uri}
    return _app_page({**shown, "qr": totp.qr_code(uri) if uri.startswith("otpauth://") else ""})


@performs("auth.mfa.routes.confirm_app", refused=app_at_sign_in_page)
def confirm_app_at_sign_in(perform: Perform, authenticator_id: int) -> Response:
    arrive()
    return _enrolled(perform())


@performs("auth.passkeys.routes.add_passkey", refused=enrolment_page)
def add_passkey_at_sign_in(perform: Perform) -> Response:
    arrive()
    named = request.form.get("name", "").strip() or str(_("Passkey"))
    given = {
        "name": named,
        "credential": sent_credential(),
        "mfa_token": request.form.get("mfa_token", ""),
    }
    return _enrolled(perform(json=given))


def _page(mfa_token: str, methods: list[str]) -> Response:
    carried = {"mfa_token": mfa_token, "methods": " ".join(methods), "next": asked_next("")}
    options = passkey_options.to_enrol(mfa_token) if "passkey" in methods else ""
    return page("visitor/enrolment.html", carried=carried, methods=methods, passkey_options=options)


def _app_page(made: dict[str, Any]) -> Response:
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
