from __future__ import annotations

from typing import Any

from flask import Response, redirect, request, session

from ..accounts.errors import AccountNotFound, TooManyHashes
from ..accounts.models import AccountLike
from ..accounts.needs import accounts_needed
from ..accounts.schemas import AccountRead
from ..core.desk import current_desk, service
from ..core.http.answering import answers, json_response
from ..core.http.blueprint import Blueprint
from ..core.http.fields import Message
from ..core.http.operation import anyone, example, raises, signs_in
from ..core.http.reading import takes
from .errors import (
    EmailNotVerified,
    InactiveAccount,
    IncorrectCredentials,
    InvalidResetToken,
    NoAccountCreated,
    ProviderUnavailable,
    SignInRefused,
    SignUpClosed,
    TooManyAttempts,
    UnknownSignIn,
)
from .guards import account_required, bearer_token, caller, idp_required, load_account
from .idp import IdpSignIn
from .login import Login
from .pending import PendingSignIns
from .recovery import Recovery
from .schemas import (
    IdpLogin,
    LoginForm,
    PasswordRecovery,
    ResetPassword,
    VerifyToken,
    account_read,
    idp_callback_read,
    login_read,
)
from .session_cookie import prepare_session
from .sessions import Sessions

EMAIL = "ada@example.com"
CODE = "04711337"
ACCOUNT = {
    "id": 1,
    "email": EMAIL,
    "status": "active",
    "role": "user",
    "phone": None,
    "last_login_date": "2030-01-01T12:00:00+00:00",
    "current_workspace_id": None,
    "created_at": "2029-12-01T09:30:00+00:00",
}
SIGNED_IN = {
    "access_token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln",
    "expires": "2030-01-01T12:30:00+00:00",
    "token_type": "bearer",
    "account": ACCOUNT,
    "user": None,
}
CALLBACK = {
    "code": "SplxlOBeZQQYbYS6WxSbIA",
    "redirect_uri": "http://localhost:3000/signed-in",
    "auth_data": {},
}


blueprint = Blueprint("auth", __name__, needs=(accounts_needed,))
blueprint.record(prepare_session)


@blueprint.post("/login")
@anyone
@signs_in
@example(form={"username": EMAIL, "password": "correct horse"}, answer=SIGNED_IN)
@raises(IncorrectCredentials, InactiveAccount, TooManyAttempts, TooManyHashes)
@takes(form=LoginForm)
@answers(200, login_read, headers={"Cache-Control": "no-store"})
def login(form: dict[str, Any]) -> dict[str, Any]:
    """Log in with email and password"""
    return service(Login).with_password(form["username"], form["password"], address())


@blueprint.delete("/logout")
@account_required
@example(answer={"message": "Logged out"})
@answers(200, Message)
def logout() -> dict[str, str]:
    """Log out: every token of the account ends"""
    service(Sessions).close(load_account(), bearer_token())
    return {"message": "Logged out"}


@blueprint.get("/account")
@account_required
@example(answer=ACCOUNT)
@answers(200, account_read)
def account() -> AccountLike | Response:
    """The caller's account"""
    if account_read() is AccountRead:
        # Read by every client at every start: its columns go out as they are.
        row = caller()
        return json_response({name: getattr(row, name, None) for name in ACCOUNT})
    return load_account()


@blueprint.post("/password-recovery")
@anyone
@example(json={"email": EMAIL}, answer={"message": "Password recovery email sent"})
@raises(AccountNotFound, TooManyAttempts)
@takes(json=PasswordRecovery)
@answers(200, Message)
def recover_password(json: dict[str, Any]) -> dict[str, str]:
    """Mail a reset token and a short code"""
    service(Recovery).request(json["email"], address())
    return {"message": "Password recovery email sent"}


@blueprint.post("/verify-token")
@anyone
@example(json={"token": CODE, "email": EMAIL}, answer={"message": "The token is valid"})
@raises(InvalidResetToken)
@takes(json=VerifyToken)
@answers(200, Message)
def verify_token(json: dict[str, Any]) -> dict[str, str]:
    """Ask whether a reset token or code counts"""
    service(Recovery).verify(json["token"], json.get("email"))
    return {"message": "The token is valid"}


@blueprint.post("/reset-password")
@anyone
@example(
    json={"token": CODE, "email": EMAIL, "new_password": "battery staple"},
    answer={"message": "Password updated"},
)
@raises(InvalidResetToken, InactiveAccount, TooManyHashes)
@takes(json=ResetPassword)
@answers(200, Message)
def reset_password(json: dict[str, Any]) -> dict[str, str]:
    """Set a new password with a reset token or code"""
    service(Recovery).reset(json["token"], json.get("email"), json["new_password"])
    return {"message": "Password updated"}


@blueprint.get("/idp/login")
@anyone
@idp_required
@raises(ProviderUnavailable)
@takes(query=IdpLogin)
@answers(302, None, description="To the identity provider's sign-in page")
def idp_login(query: dict[str, Any]) -> Any:
    """Begin a sign-in at the identity provider"""
    response = redirect(service(IdpSignIn).begin(query["redirect_uri"], _begun()))
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.post("/idp/callback")
@anyone
@idp_required
@example(json=CALLBACK, answer=SIGNED_IN)
@raises(UnknownSignIn, SignInRefused, EmailNotVerified, SignUpClosed, InactiveAccount)
@raises(NoAccountCreated, ProviderUnavailable)
@takes(json=idp_callback_read)
@answers(200, login_read, headers={"Cache-Control": "no-store"})
def idp_callback(json: dict[str, Any]) -> dict[str, Any]:
    """Finish a sign-in with the code that the identity provider gave"""
    return service(IdpSignIn).finish(_begun(), **json)


def _begun() -> PendingSignIns:
    return PendingSignIns(session, current_desk.clock)


def address() -> str:
    """Where the request comes from; behind proxies, as far as they are trusted."""
    return request.remote_addr or ""
