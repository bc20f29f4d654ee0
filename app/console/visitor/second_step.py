"""The second step of a sign-in, whichever way it began: what was shown first stands in the form."""

from __future__ import annotations

from flask import Response, request

from ...auth.mfa import routes as mfa_api
from ...core.errors import Problem
from ...core.web.operation import anyone, hidden
from ..api_calls import ApiCall, calls_api
from ..pages import page
from ..ways import asked_next, go
from . import passkey_options
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
        passkey_options=passkey_options.as_factor(mfa_token) if "passkey" in methods else "",
    )
