"""Routes of sign-in through identity providers. `/idp/login` and `/idp/callback` are those of the
provider `default`."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

import flask
from flask import current_app, request, session, url_for
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from ...core.context import current_frontdesk, find_context, service
from ...core.keystore import KeystoreUnavailable
from ...core.types import JsonObject
from ...core.web.blueprint import LazyView
from ...core.web.operation import anyone, example, raises, variables
from ...core.web.request_data import takes
from ...core.web.responses import AnswerWith, answers
from .. import examples
from ..caller import find_caller
from ..cross_site import CrossSite, own_origin
from ..decorators import CREDENTIAL_PROBLEMS, check_active, guard, raises_sign_in_problems
from ..errors import (
    LINKING_PROBLEMS,
    PROVIDER_PROBLEMS,
    EmailCodeRequired,
    IdentityTaken,
    IdpDisabled,
    InactiveCaller,
    InvalidProof,
    ProviderNotFound,
    ProviderUnavailable,
    TooManyAttempts,
    UnknownSignIn,
)
from ..login_codes.routes import MailedCode
from ..schemas import login_read
from ..sign_in.options import sign_in_options
from ..sign_in.policy import response_payload
from .pending import SIGN_IN, PendingSignIns
from .provider import DEFAULT, Provider
from .providers import Providers
from .schemas import (
    IdentityRead,
    IdpCallback,
    IdpLogin,
    ProviderCallback,
    ProviderRead,
    ProviderReturn,
    idp_callback_read,
    load_auth_data,
    provider_callback_read,
)
from .service import Browser, Callback, IdpSignIn

# The longest form of a provider's return.
MAX_FORM = 8 * 1024
named_provider = variables(provider="Name of the identity provider, or `default`.")


@guard(IdpDisabled, bearer=False)
def idp_required() -> None:
    """Require the identity provider of the settings `IDP_…`, before the request is read."""
    context = find_context()
    if not context.has(Providers) or DEFAULT not in context.get(Providers):
        raise IdpDisabled


@guard(ProviderNotFound, bearer=False)
def provider_required() -> None:
    """Require the identity provider of the path, before the request is read."""
    service(Providers).find((request.view_args or {})["provider"])


@anyone
@idp_required
@raises(ProviderUnavailable)
@takes(query=IdpLogin)
@answers(302, None, description="Redirect to the identity provider")
def idp_login(query: IdpLogin.Input) -> Response:
    """Start a sign-in with an identity provider

    Redirects the browser to the provider and sets a session cookie.
    """
    return _begin(DEFAULT, query)


@anyone
@idp_required
@raises_sign_in_problems
@example(json=examples.CALLBACK, answer=examples.SIGNED_IN)
@raises(*PROVIDER_PROBLEMS)
@takes(json=idp_callback_read)
@answers(200, login_read)
def idp_callback(json: IdpCallback.Input) -> JsonObject:
    """Finish a sign-in with an identity provider

    Exchanges the provider's authorization code for an access token.
    """
    return _finish(DEFAULT, Callback(**json))


@anyone
@example(answer=examples.PROVIDERS)
@answers(200, ProviderRead, many=True)
def list_providers() -> Iterable[Provider]:
    """List the identity providers

    For the buttons of a sign-in page. `default` is the provider of `GET /idp/login`.
    """
    return service(Providers).values()


@anyone
@provider_required
@named_provider
@raises(ProviderUnavailable)
@takes(query=IdpLogin)
@answers(302, None, description="Redirect to the identity provider")
def provider_login(provider: str, query: IdpLogin.Input) -> Response:
    """Start a sign-in with a named identity provider

    Redirects the browser to the provider and sets a session cookie.
    """
    return _begin(provider, query)


@anyone
@provider_required
@named_provider
@raises_sign_in_problems
@example(json=examples.PROVIDER_CALLBACK, answer=examples.SIGNED_IN)
@raises(*PROVIDER_PROBLEMS, EmailCodeRequired, TooManyAttempts, KeystoreUnavailable)
@raises(IdentityTaken, *CREDENTIAL_PROBLEMS, InactiveCaller, CrossSite)
@takes(json=provider_callback_read)
@answers(200, login_read)
def provider_callback(provider: str, json: ProviderCallback.Input) -> JsonObject | AnswerWith:
    """Finish a sign-in or a link with a named identity provider

    Exchanges the provider's authorization code for an access token.

    After `POST /account/identities/{provider}`, the request must have the credentials of the same
    account. It signs no user in: the response is the linked identity, as that of
    `POST /account/identities/confirm`.
    """
    callback, browser = Callback(**json), _browser(provider)
    if not browser.pending.is_link(callback.state):
        return _finish(provider, callback)
    if (owner := find_caller()) is None:
        raise UnknownSignIn
    check_active()
    identity = service(IdpSignIn).finish_link(owner, provider, callback, browser)
    return AnswerWith(IdentityRead().dump(identity), ready=True)


@anyone
@provider_required
@named_provider
@raises_sign_in_problems
@example(json=examples.EMAIL_CODE, answer=examples.SIGNED_IN)
@raises(InvalidProof, *LINKING_PROBLEMS, KeystoreUnavailable)
@takes(json=MailedCode)
@answers(200, login_read)
def provider_verify(provider: str, json: MailedCode.Input) -> JsonObject:
    """Verify the email address of a user of an identity provider

    Continues the sign-in that the error `email_code_required` interrupted, with the code from the
    email.
    """
    outcome = service(IdpSignIn).verify(
        provider, **json, load=load_auth_data, options=sign_in_options()
    )
    return response_payload(outcome)


@anyone
@provider_required
@named_provider
@example(form=examples.PROVIDER_RETURN)
@takes(form=ProviderReturn, max_body=MAX_FORM)
@answers(303, None, description="Redirect to the `redirect_uri` of the identity provider")
def provider_return(provider: str, form: ProviderReturn.Input) -> Response:
    """Receive the form of an identity provider

    Only for providers of the kind `apple`, which return the browser by a form of another site.
    Redirects to the provider's `redirect_uri` with `code` and `state`, or `error`. The client sends
    them to the callback with its cookie.
    """
    found = service(Providers).find(provider)
    if not found.posts_form:
        raise ProviderNotFound
    join = "&" if "?" in found.redirect_uri else "?"
    url = f"{found.redirect_uri}{join}{urlencode(form)}"
    response = redirect(url, 303, Response=flask.Response)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


class ProviderStart(flask.Response):
    """The response that begins at the provider. Its session cookie has SameSite=Lax by default.

    Browsers send such a cookie when the provider redirects back, but not with forms of other sites.
    The session cookie of all other responses keeps the application's setting.
    """

    def set_cookie(self, *args: Any, **options: Any) -> None:
        super().set_cookie(*args, **{**options, "samesite": options.get("samesite") or "Lax"})


def _begin(provider: str, query: IdpLogin.Input) -> Response:
    return redirect(provider_url(provider, query["redirect_uri"]), Response=ProviderStart)


def provider_url(provider: str, redirect_uri: str, purpose: str = SIGN_IN) -> str:
    """Begin at the provider in this browser, and return the provider's page."""
    return service(IdpSignIn).begin(provider, redirect_uri, _browser(provider), purpose)


def _finish(provider: str, callback: Callback) -> JsonObject:
    browser, options = _browser(provider), sign_in_options()
    return response_payload(service(IdpSignIn).finish(provider, callback, browser, options))


def _browser(provider: str) -> Browser:
    # A page of the console, which has another blueprint, may have called the view.
    views = current_app.view_functions.items()
    name = provider_return.__name__
    endpoint = next(
        found for found, view in views if isinstance(view, LazyView) and view.__name__ == name
    )
    return_uri = f"{own_origin(request)}{url_for(endpoint, provider=provider)}"
    keystore, clock = current_frontdesk.keystore, current_frontdesk.clock
    return Browser(PendingSignIns(session, keystore, clock), return_uri)
