"""Sign-in through an identity provider, which redirects the browser back to a page of the console.

A GET request must not change anything, so that page sends the code and state in a form.
"""

from typing import Any

from flask import Response, request, session

from ...auth.errors import EmailCodeRequired, LinkConfirmationRequired
from ...auth.idp import routes as idp_api
from ...auth.idp.pending import PendingSignIns
from ...auth.idp.routes import provider_required
from ...core.context import current_frontdesk
from ...core.web.operation import anyone
from ..api_calls import ApiCall, console_form, get_from_api, report
from ..links import link_to, local_path, next_path, redirect, redirect_to
from ..pages import render_page
from ..pending_links import PendingLink
from ..providers import provider_title, redirect_uri, returned_values
from .cookie_sign_in import prepare_sign_in, redirect_signed_in

_NEXT = "frontdesk_console_next"


@anyone
@provider_required
def provider_sign_in(provider: str) -> Response:
    """Redirect to the provider. A link opens this page: the policy forbids forms to other sites."""
    query = {"redirect_uri": redirect_uri(provider)}
    response: Response = get_from_api(idp_api.provider_login, query=query, provider=provider)
    if wanted := next_path(""):
        session[_NEXT] = wanted
    else:
        session.pop(_NEXT, None)
    return response


@anyone
@provider_required
def provider_callback(provider: str) -> Response:
    values = request.values
    wanted = local_path(values.get("next", "")) or local_path(session.get(_NEXT, ""))
    keystore, clock = current_frontdesk.keystore, current_frontdesk.clock
    is_link = PendingSignIns(session, keystore, clock).is_link(values.get("state"))
    start = link_to(".provider_sign_in", provider=provider, next=wanted or None)
    return render_page(
        f"visitor/provider_{'callback' if 'code' in values else 'refused'}.html",
        name=provider,
        provider=provider_title(provider),
        action=".finish_link" if is_link else ".finish_provider_sign_in",
        start=link_to(".identities_page") if is_link else start,
        carried={**returned_values(values), "next": wanted},
        next=wanted,
        is_link=is_link,
    )


@console_form(idp_api.provider_callback, page=provider_callback)
def finish_provider_sign_in(call_api: ApiCall, provider: str) -> Response:
    prepare_sign_in()
    json = {**returned_values(request.form), "redirect_uri": redirect_uri(provider)}
    return _sign_in(provider, call_api, json=json)


@anyone
@provider_required
def provider_code_page(provider: str) -> Response:
    """Show the rejected form again; without a form, redirect to the start."""
    if "login_id" not in request.form:
        return redirect_to(".sign_in_page")
    return _code_page(provider, request.form["login_id"])


@console_form(idp_api.provider_verify, page=provider_code_page)
def verify_provider_email(call_api: ApiCall, provider: str) -> Response:
    """Verify the address of a new user, which the provider has not verified."""
    prepare_sign_in()
    return _sign_in(provider, call_api)


def _sign_in(name: str, call_api: ApiCall, **data: Any) -> Response:
    """Sign in, or show the next step of the sign-in."""
    try:
        return redirect_signed_in(call_api(**data))
    except EmailCodeRequired as problem:
        report(problem)
        return _code_page(name, problem.members["login_id"])
    except LinkConfirmationRequired as problem:
        report(problem)
        PendingLink.store(name, problem.members["link_token"], next_path(""))
        return redirect(link_to(".sign_in_page", next=link_to(".link_page")))


def _code_page(name: str, login_id: str) -> Response:
    return render_page(
        "visitor/provider_code.html",
        name=name,
        provider=provider_title(name),
        carried={"login_id": login_id, "next": next_path("")},
        start=link_to(".provider_sign_in", provider=name, next=next_path("") or None),
    )
