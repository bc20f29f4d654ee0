"""Decorators of the routes of identity providers."""

from flask import request

from ...core.context import find_context, service
from ..decorators import guard
from ..errors import IdpDisabled, ProviderNotFound
from .provider import DEFAULT
from .providers import Providers


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
