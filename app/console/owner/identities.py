"""The users of identity providers who are linked to the owner's account."""

from flask import Response, request

from ...auth.decorators import active_account_required
from ...auth.idp import account_routes as identities_api
from ...auth.idp import routes as idp_api
from ..api_calls import ApiCall, console_form, get_from_api
from ..links import link_to, redirect, redirect_to
from ..pages import render_page
from ..pending_links import PendingLink
from ..providers import provider_links, provider_title, redirect_uri, returned_values
from ..texts import _
from .step_up import require_recent_sign_in

_FORMS = (".begin_link", ".finish_link", ".remove_identity")


@active_account_required
@require_recent_sign_in
def identities_page() -> Response:
    identities = get_from_api(identities_api.list_identities)
    linked = {each["provider"] for each in identities}
    return render_page(
        "owner/security/identities.html",
        at="security_page",
        identities=[
            (each, identity_title(each["provider"], each["issuer"])) for each in identities
        ],
        others=[each for each in provider_links() if each.name not in linked],
        forms=_FORMS,
    )


def identity_title(provider: str, issuer: str) -> str:
    """Return the provider's name for users, or its issuer if it is not configured any more."""
    return provider_title(provider) or issuer.removeprefix("https://").rstrip("/")


@console_form(identities_api.begin_link, page=identities_page)
def begin_link(call_api: ApiCall, provider: str) -> Response:
    """Open the provider. The policy forbids forms to other sites, and a page of another site could
    open a link of this page, so a page in between redirects."""
    url = call_api(json={"redirect_uri": redirect_uri(provider)})["provider_url"]
    title = provider_title(provider)
    response = render_page("owner/security/identity_new.html", provider=title, provider_url=url)
    response.headers["Refresh"] = f"0; url={url}"
    return response


@console_form(idp_api.provider_callback, page=identities_page)
def finish_link(call_api: ApiCall, provider: str) -> Response:
    """Receive what the provider returned to the callback page."""
    call_api(json={**returned_values(request.form), "redirect_uri": redirect_uri(provider)})
    return redirect_to(".identities_page", linked_text(provider_title(provider)))


@console_form(identities_api.unlink_identity, page=identities_page)
def remove_identity(call_api: ApiCall, identity_id: int) -> Response:
    removed = call_api()
    title = identity_title(removed["provider"], removed["issuer"])
    return redirect_to(
        ".identities_page", _("You can no longer sign in with {provider}.", provider=title)
    )


@active_account_required
@require_recent_sign_in
def link_page() -> Response:
    """Ask the owner to confirm the link of a sign-in that requires it."""
    return render_page("owner/security/link.html", provider=PendingLink.find().title)


@console_form(identities_api.confirm_link, page=link_page)
def confirm_link(call_api: ApiCall) -> Response:
    pending = PendingLink.find()
    call_api(json={"link_token": pending.token})
    PendingLink.delete()
    return redirect(pending.next or link_to(".identities_page"), linked_text(pending.title))


def linked_text(provider: str) -> str:
    return _("You can now sign in with {provider}.", provider=provider)
