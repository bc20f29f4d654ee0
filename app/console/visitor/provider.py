"""Signing in through an identity provider, which leads the browser away and back to a page of ours.

What it leads back with is in an address, and an address that is opened changes nothing: the page
there sends it on in a form.
"""

import logging
from urllib.parse import urlsplit

from flask import Response, request, session

from ...auth import routes as auth_api
from ...auth.decorators import idp_required
from ...auth.idp.redirects import RedirectUris
from ...auth.sessions.cookies import own_origin
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk, find_context, service
from ...core.errors import Unavailable
from ...core.web.operation import anyone, hidden
from ..api_calls import ApiCall, calls_api, get_from_api
from ..pages import page
from ..texts import _
from ..ways import asked_next, own_path_of, to
from .arriving import arrive, arrived

log = logging.getLogger(__name__)

_NEXT = "frontdesk_console_next"
_NAMES = {
    "accounts.google.com": "Google",
    "login.microsoftonline.com": "Microsoft",
    "appleid.apple.com": "Apple",
    "gitlab.com": "GitLab",
}


def provider_name() -> str:
    """As people know it; else the host that they will see in the address bar."""
    url = current_frontdesk.settings.of(AuthSettings).IDP_METADATA_URL
    host = urlsplit(url).hostname or ""
    return _NAMES.get(host, host)


@anyone
@idp_required
@hidden
def provider_sign_in() -> Response:
    """A link, and no form: browsers let a form of ours lead nowhere else."""
    response: Response = get_from_api(auth_api.idp_login, query={"redirect_uri": _way_back()})
    if wanted := asked_next(""):
        session[_NEXT] = wanted
    else:
        session.pop(_NEXT, None)
    return response


@anyone
@idp_required
@hidden
def provider_callback() -> Response:
    given = request.values
    if "code" not in given:
        return page("visitor/provider_refused.html", provider=provider_name(), next=_wanted())
    carried = {name: given.get(name, "") for name in ("code", "state")}
    carried["next"] = own_path_of(given.get("next", "")) or _wanted()
    return page("visitor/provider_callback.html", provider=provider_name(), carried=carried)


@calls_api(auth_api.idp_callback, refused=provider_callback)
def finish_provider_sign_in(call_api: ApiCall) -> Response:
    arrive()
    given = {name: request.form.get(name, "") for name in ("code", "state")}
    return arrived(call_api(json={**given, "redirect_uri": _way_back()}))


def _wanted() -> str:
    return own_path_of(session.get(_NEXT, ""))


def _way_back() -> str:
    """The address of our own page that the provider is told, as far as it is one that it may be
    told; the same one when it has led back there."""
    path = to(".provider_callback")
    if not find_context().has(RedirectUris):
        # Switched off; the route that is asked next says so.
        return f"{own_origin(request)}{path}"
    allowed, core = service(RedirectUris), current_frontdesk.settings.core
    default = allowed.default if urlsplit(allowed.default).path == path else None
    here = own_origin(request)
    # Without PUBLIC_URL, a proxy may keep to itself whether the page has TLS.
    hosts = [here] if core.PUBLIC_URL else [here, request.host_url.rstrip("/")]
    asked = [*filter(None, (default,)), *(f"{host}{path}" for host in hosts)]
    for uri in asked:
        if allowed.allows(uri):
            return uri
    log.warning(
        "Nobody can sign in on the pages through the provider: %s is no redirect URI that is"
        " allowed. Add it to IDP_ALLOWED_REDIRECT_URIS, and tell the provider of it.",
        f"{here}{path}",
    )
    raise Unavailable(str(_("Identity providers are not configured for these pages")))
