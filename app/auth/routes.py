from functools import wraps
from typing import NoReturn

from flask.blueprints import BlueprintSetupState

from ..accounts.errors import AccountNotFound, TooManyHashes
from ..accounts.password_rules import BreachedPassword, CommonPassword
from ..accounts.passwords import passwords_off
from ..core.context import EXTENSION, service
from ..core.errors import FeatureOff
from ..core.keystore import KeystoreUnavailable
from ..core.types import JsonObject
from ..core.web.fields import Message
from ..core.web.operation import anyone, example, raises, signs_in
from ..core.web.pages import clear_browser_cache
from ..core.web.request_data import takes
from ..core.web.responses import answers
from . import account_routes as account_routes
from . import examples
from .blueprint import blueprint as blueprint
from .blueprint import client_ip_address
from .caller import caller
from .decorators import account_required, passwords_required, raises_sign_in_problems
from .errors import (
    INACTIVE_PROBLEMS,
    InactiveAccount,
    IncorrectCredentials,
    InvalidProof,
    TooManyAttempts,
)
from .idp import blueprint as idp_blueprint  # noqa: F401
from .provider_logout import SignedOut, SignOutAtProvider, provider_logout
from .recovery import Recovery
from .schemas import (
    LoginFormWithFactor,
    MailedToken,
    PasswordRecovery,
    ResetPassword,
    VerifyToken,
    login_form,
    login_read,
)
from .settings import AuthSettings
from .sign_in.link import SignInLinks
from .sign_in.options import sign_in_options
from .sign_in.password import Login
from .sign_in.policy import response_payload
from .sign_in.sign_out import SignOut
from .step_up import routes as step_up_routes  # noqa: F401


@blueprint.post("/login")
@anyone
@signs_in
@raises_sign_in_problems
@example(form=examples.LOGIN, answer=examples.SIGNED_IN)
@raises(FeatureOff, IncorrectCredentials, *INACTIVE_PROBLEMS, TooManyAttempts, TooManyHashes)
@takes(form=login_form)
@answers(200, login_read)
def login(form: LoginFormWithFactor.Input) -> JsonObject:
    """Sign in with email and password

    Returns an access token. Send the form fields `username` (the email address) and `password`.
    """
    options = sign_in_options(otp=form.get("otp"), device=form.get("trusted_device"))
    return response_payload(
        service(Login).with_password(form["username"], form["password"], options)
    )


@blueprint.post("/login/link")
@anyone
@raises_sign_in_problems
@example(json=examples.MAILED_TOKEN, answer=examples.SIGNED_IN)
@raises(InvalidProof, *INACTIVE_PROBLEMS, KeystoreUnavailable)
@takes(json=MailedToken)
@answers(200, login_read)
def login_by_link(json: MailedToken.Input) -> JsonObject:
    """Sign in with a link from an operator

    Requires the token of a link that `flask accounts sign-in-link` printed.
    """
    return response_payload(service(SignInLinks).sign_in(json["token"], sign_in_options()))


@blueprint.record
def _reject_passwords(state: BlueprintSetupState) -> None:
    """With AUTH.PASSWORDS off, respond 404 to every form, as the other routes do. A decorator of
    the route would make each sign-in longer."""
    if state.app.extensions[EXTENSION].settings.of(AuthSettings).PASSWORDS == "off":
        name = f"{state.name_prefix}.{state.name}.{login.__name__}".lstrip(".")

        @wraps(login)
        def reject() -> NoReturn:
            raise passwords_off()

        state.app.view_functions[name] = reject


@blueprint.delete("/logout")
@account_required
@example(answer=examples.LOGGED_OUT)
@takes(query=SignOutAtProvider)
@answers(200, SignedOut)
def logout(query: SignOutAtProvider.Input) -> JsonObject:
    """Sign out

    Revokes all access tokens of the account.
    """
    provider = provider_logout(caller) if query["provider"] else dict
    service(SignOut).everywhere(caller())
    clear_browser_cache()
    return {"message": "Logged out", **provider()}


@blueprint.post("/password-recovery")
@passwords_required
@anyone
@example(json=examples.RECOVERY, answer=examples.RECOVERY_SENT)
@raises(AccountNotFound, TooManyAttempts, KeystoreUnavailable)
@takes(json=PasswordRecovery)
@answers(200, Message)
def recover_password(json: PasswordRecovery.Input) -> dict[str, str]:
    """Request a password reset

    Sends an email with a reset token and a short code.
    """
    service(Recovery).request(json["email"], client_ip_address())
    return {"message": "Password recovery email sent"}


@blueprint.post("/verify-token")
@passwords_required
@anyone
@example(json=examples.TOKEN, answer=examples.TOKEN_VALID)
@raises(InvalidProof, KeystoreUnavailable)
@takes(json=VerifyToken)
@answers(200, Message)
def verify_token(json: VerifyToken.Input) -> dict[str, str]:
    """Check a reset token or code

    The token or code stays valid.
    """
    service(Recovery).verify(json["token"], json.get("email"))
    return {"message": "The token is valid"}


@blueprint.post("/reset-password")
@passwords_required
@anyone
@example(json=examples.NEW_PASSWORD, answer=examples.PASSWORD_UPDATED)
@raises(InvalidProof, InactiveAccount, TooManyHashes, KeystoreUnavailable)
@raises(CommonPassword, BreachedPassword)
@takes(json=ResetPassword)
@answers(200, Message)
def reset_password(json: ResetPassword.Input) -> dict[str, str]:
    """Reset a password

    Requires the reset token or short code from the email. Revokes all access tokens of the account.
    """
    service(Recovery).reset(
        json["token"], json.get("email"), json["new_password"], client_ip_address()
    )
    return {"message": "Password updated"}
