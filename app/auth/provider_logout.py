"""Sign-out at the identity provider, for the routes that sign out."""

from collections.abc import Callable
from typing import TypedDict

from marshmallow import fields

from ..core.context import current_frontdesk, service
from ..core.types import JsonObject
from ..core.web.fields import Message, RequestSchema, StrictBoolean
from .caller import Caller
from .idp.providers import Providers


class SignOutAtProvider(RequestSchema):
    class Input(TypedDict):
        provider: bool

    provider = StrictBoolean(
        load_default=False,
        description="`true` returns the URL that also signs out at the identity provider.",
    )


class SignedOut(Message):
    provider_logout_url = fields.String(
        allow_none=True,
        metadata={
            "description": "With `provider=true`: page of the identity provider that ends the"
            " session there, or `null`."
        },
    )


def provider_logout(find_caller: Callable[[], Caller | None]) -> Callable[[], JsonObject]:
    """Return a function that returns the response's URL, for use after the sign-out.

    The caller's session is read now: its link to the provider is deleted when it ends.
    """
    if not current_frontdesk.has(Providers):
        return lambda: {"provider_logout_url": None}
    # Imported here, because few requests need it.
    from .idp.sign_out import ProviderSignOut

    build_url = service(ProviderSignOut).prepare(find_caller())
    return lambda: {"provider_logout_url": build_url()}
