"""Routes of the identities that are linked to the caller's account."""

from ...accounts.errors import AccountNotFound
from ...core.context import service
from ...core.keystore import KeystoreUnavailable
from ...core.web.operation import example, raises
from ...core.web.request_data import takes
from ...core.web.responses import answers
from .. import examples
from ..caller import caller
from ..decorators import active_account_required, fresh_required
from ..errors import InvalidProof, LinkedToAnother, ProviderNotFound
from .linking import AccountLinking
from .models import Identity
from .schemas import IdentityRead, LinkConfirmation


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
