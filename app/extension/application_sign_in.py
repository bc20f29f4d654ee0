"""Sign-in and sign-out by an application's code: a login page, a link in an email, a command.

The same rate limits and sign-in policy apply as at the routes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import has_request_context, request

from ..accounts.errors import AccountNotFound
from ..accounts.models import VERIFIED_STATE, AccountLike
from ..accounts.service import Accounts, state_of
from ..auth.caller import Caller, caller
from ..auth.decorators import check_active
from ..auth.schemas import login_read
from ..auth.settings import AuthSettings
from ..auth.sign_in.options import SignInOptions, sign_in_options
from ..auth.sign_in.password import Login
from ..auth.sign_in.policy import (
    NO_OPTIONS,
    Challenge,
    SignInPolicy,
    SignInResult,
    response_payload,
    stale_proof_error,
)
from ..auth.sign_in.sign_out import SignOut
from ..auth.step_up.service import Reauthentication
from ..core.coded_messages import exactly_one
from ..core.context import find_context, service
from ..core.errors import Invalid, SetupError
from ..core.types import JsonObject, Values
from ..core.web.request_data import schema_instance

if TYPE_CHECKING:
    from marshmallow import Schema

    from ..auth.sessions.cookie_sessions import CookieSessions


def verify_password(account: Any, password: str) -> AccountLike:
    email = account if isinstance(account, str) else account.email
    verified = service(Login).verify(email, password, _ip_address())
    # Stored on the object itself: the session may expire the columns and read them again.
    setattr(verified, VERIFIED_STATE, state_of(verified))
    return verified


def sign_in(
    account: object,
    by: tuple[str, ...],
    by_cookie: bool = False,
    otp: str | None = None,
    trusted_device: str | None = None,
) -> JsonObject:
    options = build_options(by_cookie, otp, trusted_device)
    stored = _stored(account)
    verified = getattr(account, VERIFIED_STATE, None)
    if verified is not None and verified != state_of(stored):
        # The account changed between the two calls; the sign-in policy checks later changes.
        raise stale_proof_error(by, stored.id)
    return dump(login_read(), service(SignInPolicy).admit(stored, by, options))


def finish_sign_in(mfa_token: str, factors: Values, trust: bool, by_cookie: bool) -> JsonObject:
    # Imported here to save memory: most applications have no second factors.
    from ..auth.mfa.schemas import FACTOR_FIELDS, second_step_read
    from ..auth.mfa.sign_in import SecondStep

    name, value = _only_one(factors)
    require_mfa()
    options = build_options(by_cookie)
    outcome = service(SecondStep).finish(
        mfa_token, FACTOR_FIELDS[name], value, options, trust=trust
    )
    return dump(second_step_read(), outcome)


def reauthenticate(methods: Values, login_id: str | None) -> JsonObject:
    name, value = _only_one(methods)
    check_active()
    given = (login_id or "", value) if name == "code" else value
    options = sign_in_options(caller=caller())
    return dump(login_read(), service(Reauthentication).show(caller(), name, given, options))


def build_options(
    by_cookie: bool, otp: str | None = None, device: str | None = None, caller: Caller | None = None
) -> SignInOptions:
    """Return sign-in options from the request and the values that the application passes."""
    if by_cookie:
        _cookie_sessions().prepare_sign_in()
    if not has_request_context():
        return NO_OPTIONS._replace(otp=otp, device=device)
    return sign_in_options(otp=otp, device=device, caller=caller)


def dump(schema: type[Schema], outcome: SignInResult | Challenge, **more: object) -> JsonObject:
    response: JsonObject = schema_instance(schema).dump({**response_payload(outcome), **more})
    return response


def require_mfa() -> None:
    if find_context().settings.of(AuthSettings).MFA == "off":
        raise SetupError("MFA is off: set AUTH.MFA to `optional` or `required`.")


def _only_one(given: Values) -> tuple[str, Any]:
    """Return the only given factor: a form with none or several is the client's error."""
    named = [(name, value) for name, value in given.items() if value is not None]
    if len(named) != 1:
        text = f"Exactly one of {', '.join(given)} must be given."
        message = exactly_one(text, [name for name, _ in named]) or text
        raise Invalid.about(next(iter(given)), message)
    return named[0]


def _ip_address() -> str:
    return (request.remote_addr or "") if has_request_context() else ""


def sign_out(account: object) -> None:
    service(SignOut).account(_stored(account))


def sign_out_here() -> None:
    _cookie_sessions().sign_out()


def _cookie_sessions() -> CookieSessions:
    # Imported here to save memory: most applications have no cookie sessions.
    from ..auth.sessions.cookie_sessions import CookieSessions

    context = find_context()
    if context.settings.of(AuthSettings).COOKIE_SESSIONS != "on":
        raise SetupError("Cookie sessions are off: set AUTH.COOKIE_SESSIONS to `on`.")
    return context.get(CookieSessions)


def _stored(account: Any) -> AccountLike:
    """Return the account as an object of this session: the application may pass a row, or an object
    of another session. Raise AccountNotFound."""
    found: AccountLike | None = service(Accounts).by_id(account.id)
    if found is None:
        raise AccountNotFound
    return found
