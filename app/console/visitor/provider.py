"""Sign-in through an identity provider, which redirects the browser back to a page of the console.

A GET request must not change anything, so that page sends the code and state in a form.
"""

from typing import Any

from flask import Response, request, session

from ...auth.errors import LinkConfirmationRequired
from ...auth.idp import routes as idp_api
from ...auth.idp.decorators import idp_required, provider_required
from ...core.web.operation import anyone, hidden
from ..api_calls import ApiCall, console_form, get_from_api, report
from ..links import link_to, local_path, next_path, redirect
from ..pages import render_page
from ..pending_links import PendingLink
from ..providers import DEFAULT, provider_path, provider_title, redirect_uri
from .cookie_sign_in import prepare_sign_in, redirect_signed_in

_NEXT = "frontdesk_console_next"


@anyone
@idp_required
@hidden
def provider_sign_in() -> Response:
    """Redirect to the provider. A link opens this page: the policy forbids forms to other sites."""
    query = {"redirect_uri": redirect_uri(DEFAULT)}
    return _remember_next(get_from_api(idp_api.idp_login, query=query))


@anyone
@provider_required
@hidden
def named_provider_sign_in(provider: str) -> Response:
    query = {"redirect_uri": redirect_uri(provider)}
    return _remember_next(get_from_api(idp_api.provider_login, query=query, provider=provider))


@anyone
@idp_required
@hidden
def provider_callback() -> Response:
    return _callback_page(DEFAULT, ".finish_provider_sign_in")


@anyone
@provider_required
@hidden
def named_provider_callback(provider: str) -> Response:
    return _callback_page(provider, ".finish_named_provider_sign_in", provider=provider)


@console_form(idp_api.idp_callback, page=provider_callback)
def finish_provider_sign_in(call_api: ApiCall) -> Response:
    return _finish(call_api, DEFAULT, ("code", "state"))


@console_form(idp_api.provider_callback, page=named_provider_callback)
def finish_named_provider_sign_in(call_api: ApiCall, provider: str) -> Response:
    return _finish(call_api, provider, ("code", "state", "iss"))


def _remember_next(response: Response) -> Response:
    if wanted := next_path(""):
        session[_NEXT] = wanted
    else:
        session.pop(_NEXT, None)
    return response


def _callback_page(name: str, action: str, **path: str) -> Response:
    values, title = request.values, provider_title(name)
    wanted = local_path(values.get("next", "")) or _stored_next()
    start = provider_path("provider_sign_in", name, next=wanted or None)
    page: dict[str, Any] = {"provider": title, "start": start, "next": wanted}
    if "code" not in values:
        return render_page("visitor/provider_refused.html", **page)
    # The issuer (RFC 9207) only if the provider sends it.
    carried = {part: values.get(part, "") for part in ("code", "state", "iss") if part in values}
    return render_page(
        "visitor/provider_callback.html",
        action=action,
        path=path,
        carried={**carried, "next": wanted},
        **page,
    )


def _finish(call_api: ApiCall, name: str, parts: tuple[str, ...]) -> Response:
    prepare_sign_in()
    answer = {part: request.form[part] for part in parts if part in request.form}
    try:
        result = call_api(json={**answer, "redirect_uri": redirect_uri(name)})
    except LinkConfirmationRequired as problem:
        report(problem)
        PendingLink.store(name, problem.members["link_token"], next_path(""))
        return redirect(link_to(".sign_in_page", next=link_to(".link_page")))
    return redirect_signed_in(result)


def _stored_next() -> str:
    return local_path(session.get(_NEXT, ""))
