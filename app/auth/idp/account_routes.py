"""Routes of the identities that are linked to the caller's account."""

from collections.abc import Iterable

from flask import after_this_request

from ...accounts.errors import AccountNotFound
from ...core.context import service
from ...core.keystore import KeystoreUnavailable
from ...core.types import JsonObject
from ...core.web.operation import example, raises, variables
from ...core.web.request_data import takes
from ...core.web.responses import answers
from .. import examples
from ..caller import caller
from ..decorators import active_account_required, fresh_factor_required, fresh_required
from ..errors import InvalidProof, LinkedToAnother, ProviderNotFound, ProviderUnavailable
from .identities import Identities, IdentityNotFound, OnlySignInMethod
from .linking import AccountLinking
from .models import Identity
from .pending import link_purpose
from .routes import ProviderStart, named_provider, provider_required, provider_url
from .schemas import IdentityRead, LinkBegin, LinkBegun, LinkConfirmation


@active_account_required
@example(answer=[examples.IDENTITY])
@answers(200, IdentityRead, many=True)
def list_identities() -> Iterable[Identity]:
    """List the identities that are linked to the caller's account"""
    return service(Identities).list(caller().account.id)


@active_account_required
@fresh_required()
@provider_required
@named_provider
@example(json=examples.REDIRECT_URI, answer=examples.LINK_BEGUN)
@raises(ProviderUnavailable)
@takes(json=LinkBegin)
@answers(200, LinkBegun)
def begin_link(provider: str, json: LinkBegin.Input) -> JsonObject:
    """Begin to link a user of an identity provider to the caller's account

    Sets a session cookie, as `GET /idp/{provider}/login` does. Open `provider_url` in the browser,
    then finish the link with `POST /idp/{provider}/callback` and the credentials of the account.
    """
    url = provider_url(provider, json["redirect_uri"], link_purpose(caller().account.id))
    after_this_request(ProviderStart.force_type)
    return {"provider_url": url}


@active_account_required
@fresh_factor_required
@variables(identity_id="ID of the link.")
@example(answer=examples.IDENTITY)
@raises(IdentityNotFound, OnlySignInMethod)
@answers(200, IdentityRead)
def unlink_identity(identity_id: int) -> Identity:
    """Unlink an identity from the caller's account

    An account's only sign-in method cannot be removed.
    """
    return service(AccountLinking).unlink(caller(), identity_id)


@active_account_required
@fresh_required()
@example(json=examples.LINK_CONFIRMATION, answer=examples.IDENTITY)
@raises(InvalidProof, LinkedToAnother, ProviderNotFound, AccountNotFound, KeystoreUnavailable)
@takes(json=LinkConfirmation)
@answers(200, IdentityRead)
def confirm_link(json: LinkConfirmation.Input) -> Identity:
    """Confirm the link to a user of an identity provider

    Links the caller's account with the `link_token` of a sign-in that requires confirmation
    (`AUTH__IDP_LINKING=confirm`).
    """
    return service(AccountLinking).confirm(caller(), json["link_token"])
