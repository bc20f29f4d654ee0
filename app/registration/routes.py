from collections.abc import Callable

from ..accounts.errors import EmailTaken, TooManyHashes
from ..accounts.password_rules import BreachedPassword, CommonPassword
from ..accounts.service import Accounts
from ..auth.blueprint import client_ip_address
from ..auth.decorators import guard, raises_sign_in_problems
from ..auth.errors import InvalidProof, TooManyAttempts
from ..auth.examples import SIGNED_IN
from ..auth.schemas import VerifyToken, login_read
from ..auth.sign_in.options import sign_in_options
from ..auth.sign_in.policy import response_payload
from ..core.context import service
from ..core.keystore import KeystoreUnavailable
from ..core.types import JsonObject
from ..core.web.blueprint import Blueprint
from ..core.web.fields import Message
from ..core.web.operation import anyone, example, raises
from ..core.web.request_data import takes
from ..core.web.responses import AnswerWith, answers
from ..workspaces.invitations.schemas import InviterGone, OtherAddress
from . import schemas
from .browser import PendingRegistration
from .service import Registration
from .verification import Verification

blueprint = Blueprint(
    "registration", __name__, needs=Accounts, about="Sign-up and email verification"
)


@guard(schemas.RegistrationClosed, bearer=False)
def registration_required() -> None:
    """Require that users can register, before the request is read."""
    service(Registration)


@blueprint.post("/registration")
@anyone
@registration_required
@raises_sign_in_problems
@example(json=schemas.REGISTRATION, answer_202=schemas.REGISTERED, answer=SIGNED_IN)
@raises(schemas.RegistrationRefused, EmailTaken, TooManyAttempts, TooManyHashes)
@raises(InvalidProof, OtherAddress, InviterGone, KeystoreUnavailable)
@raises(CommonPassword, BreachedPassword)
@takes(json=schemas.registration_create)
@answers(202, Message, description="An email to verify the email address was sent")
@answers(201, login_read)
def register(
    json: schemas.RegistrationCreate.Input, *, keep_proof: Callable[[str], None] | None = None
) -> JsonObject | AnswerWith:
    """Sign up

    Creates an account. With required email verification, the account becomes active when the email
    address is verified.
    """
    outcome = service(Registration).register(sign_in_options(), **json)
    if isinstance(outcome, PendingRegistration):
        if keep_proof is not None:
            # Only a page, which is in this process, can keep the proof for its browser.
            keep_proof(outcome.browser_proof)
        return AnswerWith({"message": "Check your email to finish registering"}, 202)
    return response_payload(outcome)


@blueprint.post("/email-verification")
@anyone
@example(json=schemas.PROOF, answer=schemas.PROVEN)
@raises(InvalidProof, KeystoreUnavailable)
@takes(json=VerifyToken)
@answers(200, Message)
def verify_email(json: VerifyToken.Input) -> dict[str, str]:
    """Verify an email address

    Requires the token or code from the verification email.
    """
    service(Verification).verify(json["token"], json.get("email"))
    return {"message": "Email verified"}


@blueprint.post("/email-verification/mail")
@anyone
@example(json=schemas.ADDRESS, answer=schemas.MAILED)
@raises(TooManyAttempts, KeystoreUnavailable)
@takes(json=schemas.VerificationMail)
@answers(202, Message)
def mail_verification(json: schemas.VerificationMail.Input) -> dict[str, str]:
    """Send the verification email again"""
    service(Verification).send_again(json["email"], client_ip_address())
    return {"message": "If this email address is unverified, we sent an email"}
