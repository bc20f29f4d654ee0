"""Sign-in through an identity provider, which redirects the browser back to a page of the console.

A GET request must not change anything, so that page sends the code and state in a form.
"""

import logging
from urllib.parse import urlsplit

from flask import Response, request, session

from ...auth.cross_site import own_origin
from ...auth.idp import routes as idp_api
from ...auth.idp.decorators import idp_required
from ...auth.idp.provider import DEFAULT
from ...auth.idp.providers import Providers
from ...auth.idp.redirects import RedirectUris
from ...core.context import current_frontdesk, find_context, service
from ...core.errors import Unavailable
from ...core.web.operation import anyone, hidden
from ..api_calls import ApiCall, console_form, get_from_api
from ..links import link_to, local_path, next_path
from ..pages import render_page
from ..texts import _
from .cookie_sign_in import prepare_sign_in, redirect_signed_in

log = logging.getLogger(__name__)

_NEXT = "frontdesk_console_next"


def provider_name() -> str:
    """Return the name of the provider for users, or an empty string without one."""
    context = find_context()
    provider = context.get(Providers).get(DEFAULT) if context.has(Providers) else None
    return provider.title if provider else ""


@anyone
@idp_required
@hidden
def provider_sign_in() -> Response:
    """Redirect to the provider. A link opens this page: the policy forbids forms to other sites."""
    response: Response = get_from_api(idp_api.idp_login, query={"redirect_uri": _redirect_uri()})
    if wanted := next_path(""):
        session[_NEXT] = wanted
    else:
        session.pop(_NEXT, None)
    return response


@anyone
@idp_required
@hidden
def provider_callback() -> Response:
    values = request.values
    if "code" not in values:
        return render_page(
            "visitor/provider_refused.html", provider=provider_name(), next=_stored_next()
        )
    carried = {name: values.get(name, "") for name in ("code", "state")}
    carried["next"] = local_path(values.get("next", "")) or _stored_next()
    return render_page("visitor/provider_callback.html", provider=provider_name(), carried=carried)


@console_form(idp_api.idp_callback, page=provider_callback)
def finish_provider_sign_in(call_api: ApiCall) -> Response:
    prepare_sign_in()
    answer = {name: request.form.get(name, "") for name in ("code", "state")}
    return redirect_signed_in(call_api(json={**answer, "redirect_uri": _redirect_uri()}))


def _stored_next() -> str:
    return local_path(session.get(_NEXT, ""))


def _redirect_uri() -> str:
    """Return the allowed redirect URI of the console, which is the same in both requests."""
    path = link_to(".provider_callback")
    if not find_context().has(RedirectUris):
        # The feature is disabled, which the API reports.
        return f"{own_origin(request)}{path}"
    allowed, core = service(RedirectUris), current_frontdesk.settings.core
    default = allowed.default if urlsplit(allowed.default).path == path else None
    here = own_origin(request)
    # Without PUBLIC_URL, a proxy may hide whether the page has TLS.
    hosts = [here] if core.PUBLIC_URL else [here, request.host_url.rstrip("/")]
    candidates = [*filter(None, (default,)), *(f"{host}{path}" for host in hosts)]
    for uri in candidates:
        if allowed.allows(uri):
            return uri
    log.warning(
        "Sign-in through the identity provider is unavailable on the pages: %s is not an allowed"
        " redirect URI. Add it to IDP_ALLOWED_REDIRECT_URIS and register it at the provider.",
        f"{here}{path}",
    )
    raise Unavailable(_("Sign-in through the identity provider is not configured."))
