"""The route with which an identity provider signs users out."""

from collections.abc import Iterator
from contextlib import contextmanager

from ...core.context import service
from ...core.errors import Invalid
from ...core.keystore import KeystoreUnavailable
from ...core.web.fields import Message
from ...core.web.operation import anyone, example, operation, raises
from ...core.web.request_data import takes
from ...core.web.responses import answers
from .. import examples
from ..errors import InvalidLogoutToken, ProviderUnavailable
from .routes import named_provider, provider_required
from .schemas import MAX_LOGOUT_FORM, LogoutToken
from .sign_out import ProviderSignOut


@contextmanager
def _invalid_request() -> Iterator[None]:
    """Decorate the view: the specification has no other status for an invalid request than 400."""
    try:
        yield
    except Invalid:
        raise InvalidLogoutToken from None


@anyone
@provider_required
@named_provider
@example(form=examples.LOGOUT_TOKEN, answer=examples.LOGGED_OUT)
@raises(InvalidLogoutToken, ProviderUnavailable, KeystoreUnavailable)
@_invalid_request()
@takes(form=LogoutToken, max_body=MAX_LOGOUT_FORM)
@answers(200, Message)
def backchannel_logout(provider: str, form: LogoutToken.Input) -> dict[str, str]:
    """Sign out from the identity provider's server

    OpenID Connect Back-Channel Logout. Ends the sessions that were opened through the provider:
    those of the user in the logout token, or only those with its `sid`. The response is 200 even if
    no session matches.
    """
    service(ProviderSignOut).end(provider, form["logout_token"])
    return {"message": "Logged out"}


operation(backchannel_logout).problems.remove(Invalid)
