from typing import TypedDict

from ..accounts.service import Accounts
from ..administration.rules import LastRoot, SoleOwner
from ..auth.blueprint import client_ip_address
from ..auth.caller import caller
from ..auth.decorators import active_account_required, guard
from ..auth.errors import FRESHNESS_PROBLEMS, InvalidProof
from ..auth.examples import MAILED_TOKEN
from ..auth.schemas import MailedToken, password_unless_fresh
from ..auth.settings import AuthSettings
from ..core.context import current_frontdesk, service
from ..core.errors import FeatureOff
from ..core.types import JsonObject
from ..core.web.blueprint import Blueprint
from ..core.web.fields import Message, RequestSchema, Timestamp, response_field
from ..core.web.operation import anyone, example, raises
from ..core.web.request_data import takes
from ..core.web.responses import AnswerWith, answers
from .service import Deletion

blueprint = Blueprint("deletion", __name__, needs=Accounts, about="Account deletion and restore")


class DeleteAccount(RequestSchema):
    class Meta(RequestSchema.Meta):
        # Some clients and proxies remove the body of a DELETE.
        may_be_missing = True

    class Input(TypedDict):
        password: str | None

    password = password_unless_fresh()


class DeletionRead(Message):
    deletes_at = response_field(
        Timestamp, "When the account is deleted; until then it can be restored."
    )


WITH_PASSWORD = {"password": "correct horse"}
ASKED = {
    "message": "The account will be deleted. The email has a link to keep it",
    "deletes_at": "2030-01-15T12:00:00+00:00",
}
GONE = {"message": "Account deleted"}
KEPT = {"message": "The account is kept"}


@guard(FeatureOff, bearer=False)
def deletion_required() -> None:
    """Require that owners can delete their accounts, before the caller is authenticated."""
    if current_frontdesk.settings.of(AuthSettings).ACCOUNT_DELETION == "off":
        raise FeatureOff(note={"setting": "AUTH__ACCOUNT_DELETION"})


@blueprint.delete("/account")
@deletion_required
@active_account_required
@example(json=WITH_PASSWORD, answer=GONE, answer_202=ASKED)
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
@example(json=MAILED_TOKEN, answer=KEPT)
@raises(InvalidProof)
@takes(json=MailedToken)
@answers(200, Message)
def restore_account(json: MailedToken.Input) -> dict[str, str]:
    """Restore an account that will be deleted, with the emailed token"""
    service(Deletion).restore(json["token"])
    return {"message": "The account is kept"}
