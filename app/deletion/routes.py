from ..accounts.service import Accounts
from ..administration.rules import LastRoot, SoleOwner
from ..auth.blueprint import client_ip_address
from ..auth.caller import caller
from ..auth.decorators import active_account_required, guard
from ..auth.errors import FRESHNESS_PROBLEMS, InvalidProof
from ..auth.examples import MAILED_TOKEN
from ..auth.schemas import MailedToken
from ..auth.settings import AuthSettings
from ..core.context import current_frontdesk, service
from ..core.errors import FeatureOff
from ..core.types import JsonObject
from ..core.web.blueprint import Blueprint
from ..core.web.fields import Message
from ..core.web.operation import anyone, example, raises
from ..core.web.request_data import takes
from ..core.web.responses import AnswerWith, answers
from . import schemas
from .schemas import DeleteAccount, DeletionRead
from .service import Deletion

blueprint = Blueprint("deletion", __name__, needs=Accounts, about="Account deletion and restore")


@guard(FeatureOff, bearer=False)
def deletion_required() -> None:
    """Require that owners can delete their accounts, before the caller is authenticated."""
    if current_frontdesk.settings.of(AuthSettings).ACCOUNT_DELETION == "off":
        raise FeatureOff(note={"setting": "AUTH__ACCOUNT_DELETION"})


@blueprint.delete("/account")
@deletion_required
@active_account_required
@example(json=schemas.WITH_PASSWORD, answer=schemas.GONE, answer_202=schemas.ASKED)
@raises(*FRESHNESS_PROBLEMS, LastRoot, SoleOwner)
@takes(json=DeleteAccount)
@answers(202, DeletionRead, description="The account will be deleted after the grace period")
@answers(200, Message)
def delete_account(json: DeleteAccount.Input) -> JsonObject | AnswerWith:
    """Delete the caller's account

    The account is deleted after the grace period, and can be restored until then.
    """
    deletes_at = service(Deletion).request(caller(), json["password"], client_ip_address())
    if deletes_at is None:
        return {"message": "Account deleted"}
    message = "The account will be deleted. The email has a link to keep it"
    return AnswerWith({"message": message, "deletes_at": deletes_at}, 202, ready=True)


@blueprint.post("/account/restore")
@anyone
@example(json=MAILED_TOKEN, answer=schemas.KEPT)
@raises(InvalidProof)
@takes(json=MailedToken)
@answers(200, Message)
def restore_account(json: MailedToken.Input) -> dict[str, str]:
    """Restore an account that will be deleted, with the emailed token"""
    service(Deletion).restore(json["token"])
    return {"message": "The account is kept"}
