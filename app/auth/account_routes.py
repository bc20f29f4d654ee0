"""Routes of the caller's account."""

from ..accounts.details import Details
from ..accounts.errors import EmailTaken
from ..accounts.models import AccountLike
from ..accounts.password_rules import BreachedPassword, CommonPassword
from ..accounts.schemas import AccountRead, OwnAccountUpdate, account_update
from ..core.context import service
from ..core.keystore import KeystoreUnavailable
from ..core.types import JsonObject
from ..core.web.fields import Message
from ..core.web.operation import anyone, example, raises
from ..core.web.request_data import takes
from ..core.web.responses import AnswerWith, answers
from . import examples
from .blueprint import blueprint, client_ip_address
from .caller import caller, find_caller
from .decorators import (
    account_optional,
    account_required,
    active_account_required,
    passwords_required,
    raises_sign_in_problems,
)
from .email_change.service import EmailChanges
from .email_change.undo import EmailChangeUndo
from .errors import FRESHNESS_PROBLEMS, EmailRefused, InactiveAccount, InvalidProof
from .passwords import PasswordChange
from .schemas import (
    ChangeEmail,
    ChangePassword,
    ConfirmEmailChange,
    MailedToken,
    account_read,
    login_read,
)
from .scopes import ACCOUNT_READ, scope
from .sign_in.options import sign_in_options
from .sign_in.policy import response_payload


@blueprint.get("/account")
@account_required
@scope(ACCOUNT_READ, workspace=False)
@example(answer=examples.ACCOUNT)
@answers(200, account_read)
def get_account() -> AccountLike | AnswerWith:
    """Get the caller's account"""
    if account_read() is AccountRead:
        # Every client reads this at its start: the columns are returned without an object.
        return AnswerWith(service(Details).shown(caller().account), ready=True)
    return caller().attached_account


@blueprint.patch("/account")
@active_account_required
@example(json=examples.ACCOUNT_UPDATE, answer=examples.ACCOUNT)
@takes(json=account_update)
@answers(200, account_read)
def change_account(json: OwnAccountUpdate.Input) -> AccountLike:
    """Update the caller's phone number, language or time zone"""
    return service(Details).change(caller().attached_account, json)


@blueprint.put("/account/password")
@passwords_required
@active_account_required
@raises_sign_in_problems
@example(json=examples.PASSWORD_CHANGE, answer=examples.SIGNED_IN)
@raises(*FRESHNESS_PROBLEMS, CommonPassword, BreachedPassword)
@takes(json=ChangePassword)
@answers(200, login_read)
def change_password(json: ChangePassword.Input) -> JsonObject:
    """Change the caller's password

    Revokes all access tokens of the account and returns a new one.
    """
    outcome = service(PasswordChange).change(
        caller(), json["current_password"], json["new_password"], sign_in_options(caller=caller())
    )
    return response_payload(outcome)


@blueprint.post("/account/email")
@active_account_required
@example(json=examples.EMAIL_CHANGE, answer=examples.EMAIL_CHANGE_SENT)
@raises(*FRESHNESS_PROBLEMS, EmailRefused, KeystoreUnavailable)
@takes(json=ChangeEmail)
@answers(202, Message)
def request_email_change(json: ChangeEmail.Input) -> dict[str, str]:
    """Request a change of email address

    Sends a token and a code to the new address, and a link to undo the change to the old one.
    """
    service(EmailChanges).request(caller(), json["email"], json["password"], client_ip_address())
    return {"message": "Check your new email address to confirm the change"}


@blueprint.post("/account/email/confirm")
@account_optional
@raises_sign_in_problems
@example(json=examples.TOKEN, answer=examples.SIGNED_IN)
@raises(InvalidProof, EmailTaken, InactiveAccount, KeystoreUnavailable)
@raises(*FRESHNESS_PROBLEMS)
@takes(json=ConfirmEmailChange)
@answers(200, login_read)
def confirm_email_change(json: ConfirmEmailChange.Input) -> JsonObject:
    """Confirm a change of email address

    Requires the token or code from the email, and an access token or the password. Revokes all
    access tokens of the account.
    """
    found = find_caller()
    options = sign_in_options(caller=found)
    outcome = service(EmailChanges).confirm(
        json["token"], json.get("email"), json["password"], found, options
    )
    return response_payload(outcome)


@blueprint.post("/account/email/undo")
@anyone
@example(json=examples.MAILED_TOKEN, answer=examples.EMAIL_UNDONE)
@raises(InvalidProof, EmailTaken)
@takes(json=MailedToken)
@answers(200, Message)
def undo_email_change(json: MailedToken.Input) -> dict[str, str]:
    """Undo a change of email address

    Restores the old address with the token that was sent to it, and starts a password recovery.
    """
    service(EmailChangeUndo).undo(json["token"])
    return {"message": "Your email address was restored. Check your inbox to choose a new password"}
