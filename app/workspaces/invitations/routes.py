"""Routes of the invited account. The routes of the inviter are those of the workspace."""

from collections.abc import Sequence

from ...accounts.service import Accounts
from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.errors import InvalidProof
from ...core.context import service
from ...core.web.blueprint import Blueprint
from ...core.web.fields import Message, Page
from ...core.web.operation import anyone, example, raises
from ...core.web.request_data import takes
from ...core.web.responses import answers
from .. import schemas
from ..members import ListedMember
from ..schemas import MemberRead
from .lookup import InvitationRow
from .received import ReceivedInvitations
from .schemas import (
    AddressNotVerified,
    InvitationNotFound,
    InvitationSecret,
    InviterGone,
    MailedInvitationRead,
    OtherAddress,
    ReceivedInvitationRead,
)

blueprint = Blueprint(
    "invitations", __name__, needs=Accounts, about="Invitations to the caller, and by email"
)

DECLINED = {"message": "Invitation declined"}


@blueprint.get("/invitations")
@active_account_required
@example(answer=[schemas.RECEIVED])
@raises(AddressNotVerified)
@takes(query=Page)
@answers(200, ReceivedInvitationRead, paged=True)
def list_received_invitations(query: Page.Input) -> Sequence[InvitationRow]:
    """List the open invitations to the caller's email address"""
    return service(ReceivedInvitations).page(caller().account, **query)


@blueprint.post("/invitations/<row_id:invitation_id>/accept")
@active_account_required
@example(answer=schemas.GRACE_READ)
@raises(AddressNotVerified, InvitationNotFound, InviterGone)
@answers(200, MemberRead)
def accept_received_invitation(invitation_id: int) -> ListedMember:
    """Accept an invitation"""
    return service(ReceivedInvitations).accept(caller().attached_account, invitation_id)


@blueprint.post("/invitations/<row_id:invitation_id>/decline")
@active_account_required
@example(answer=DECLINED)
@raises(AddressNotVerified, InvitationNotFound)
@answers(200, Message)
def decline_received_invitation(invitation_id: int) -> dict[str, str]:
    """Decline an invitation"""
    service(ReceivedInvitations).decline(caller().account, invitation_id)
    return DECLINED


@blueprint.get("/invitation")
@anyone
@example(answer=schemas.MAILED)
@raises(InvalidProof)
@takes(query=InvitationSecret)
@answers(200, MailedInvitationRead)
def get_mailed_invitation(query: InvitationSecret.Input) -> InvitationRow:
    """Get an invitation by its emailed token, without a change"""
    return service(ReceivedInvitations).show(query["token"])


@blueprint.post("/invitation/accept")
@active_account_required
@example(json=schemas.SECRET, answer=schemas.GRACE_READ)
@raises(InvalidProof, OtherAddress, InviterGone)
@takes(json=InvitationSecret)
@answers(200, MemberRead)
def accept_mailed_invitation(json: InvitationSecret.Input) -> ListedMember:
    """Accept an invitation by its emailed token"""
    return service(ReceivedInvitations).accept_by_token(caller().attached_account, json["token"])


@blueprint.post("/invitation/decline")
@anyone
@example(json=schemas.SECRET, answer=DECLINED)
@raises(InvalidProof)
@takes(json=InvitationSecret)
@answers(200, Message)
def decline_mailed_invitation(json: InvitationSecret.Input) -> dict[str, str]:
    """Decline an invitation by its emailed token"""
    service(ReceivedInvitations).decline_by_token(json["token"])
    return DECLINED
