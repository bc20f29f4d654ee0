"""Sign-in with a one-time code by email.

The response and its time are the same with and without an account; only the email shows whether
there is one. A correct code verifies the address, and creates an account if registration is open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from ...accounts.addresses import folds_to_ascii, read_email
from ...accounts.errors import EmailTaken, InvalidEmail, MissingValue
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.context import Context, report_action
from ...core.db.transaction import after_commit, release, transaction
from ...core.errors import Invalid, Problem
from ...core.request import current_origin
from ...core.translations import mark
from ...delivery.mail.one_off import OneOffMail
from ...delivery.mail.templates import Templates
from ..actions import LOGIN_CODE_REQUESTED
from ..caller import Caller
from ..errors import InvalidProof, SignUpNeeded
from ..features import LoginCodeFeature
from ..limits import Failures, mail_limit
from ..proof_names import MAILED_CODE
from ..proofs import Proofs, Purpose
from ..sessions.devices import label_of
from ..settings import AuthSettings
from ..sign_in.options import SignInOptions, sign_in_by
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult
from ..sign_up_policy import BY_CODE, SignUpPolicy
from ..step_up.service import StepUp, StepUpMethod
from .codes import LOGIN_CODE, LoginCodes


@dataclass(eq=False)
class LoginByCode:
    accounts: Accounts
    codes: LoginCodes
    # Counts a request by its email address and IP address.
    count: Callable[[str, str], None]
    failures: Failures
    # Whether a code may create an account for the address.
    may_sign_up: Callable[[str], bool]
    policy: SignInPolicy
    mails: LoginCodeMails

    def request(self, email: str, ip_address: str) -> str:
        """Email a code, and return the id of the sign-in that the code is valid with."""
        email = _readable(email)
        self.count(email, ip_address)
        # Checked for every address, so that the response time reveals nothing.
        may_sign_up = self.may_sign_up(email)
        # A plain row: creating an object would take longer than finding no account.
        account = self.accounts.rows.read(email)
        issued = self.codes.issue(email, account, may_sign_up)
        with transaction(self.accounts.session) as session:
            account_id = None if account is None else account.id
            report_action(session, LOGIN_CODE_REQUESTED, account_id=account_id)
        release(self.accounts.session)
        if account is not None or may_sign_up:
            self.mails.send_code(email, issued.code)
        else:
            self.mails.send_no_account(email)
        return issued.login_id

    @sign_in_by(MAILED_CODE)
    def sign_in(self, login_id: str, code: str, options: SignInOptions) -> SignInResult | Challenge:
        try:
            email, account = self.codes.use(login_id, code)
        except InvalidProof:
            raise InvalidProof(note={"event": "sign_in"}) from None
        with transaction(self.accounts.session) as session:
            account = account or self._sign_up(email)
            if not self.accounts.is_email_verified(account):
                # The password may be from a person who never read email of this address.
                self.accounts.reclaim(account)
            outcome = self.policy.admit(account, (MAILED_CODE,), options)
            if isinstance(outcome, SignInResult):
                ip_address = options.ip_address
                after_commit(session, lambda: self.failures.reset_and_trust(email, ip_address))
            return outcome

    def _sign_up(self, email: str) -> AccountLike:
        """Create the account; the sign-up policy was checked before the code was issued."""
        try:
            return self.accounts.create(email, None, status=self.accounts.active_status)
        except MissingValue as problem:
            raise SignUpNeeded(problem) from problem
        except EmailTaken:
            # The address was registered concurrently; the code proves that the user owns it.
            found = self.accounts.find(email)
            if found is None:
                raise
            return found


def _readable(email: str) -> str:
    """Reject an address that no email can reach, with or without an account."""
    try:
        return read_email(email)
    except InvalidEmail:
        raise Invalid.about("email", InvalidEmail.message) from None


def may_sign_up(policy: SignUpPolicy, is_email_enough: Callable[[], bool], email: str) -> bool:
    """Return whether a code may create an account: not if an application requires more fields than
    an email address.

    A problem that the application raises counts as no: the response must not reveal whether the
    address has an account.
    """
    if folds_to_ascii(email) or not is_email_enough():
        return False
    try:
        return policy.allows(email, BY_CODE)
    except Problem:
        return False


# Shown for programs that are not browsers: an attacker must not choose text in an email.
UNKNOWN = mark("a device that we do not know")


_BROWSERS_BEGIN = "Mozilla/"


@dataclass(eq=False)
class LoginCodeMails:
    auth: AuthSettings
    templates: Templates
    one_off_mail: OneOffMail

    def send_code(self, email_to: str, code: str) -> None:
        email = self.templates.to_account(
            "login_code",
            email_to,
            mark("your sign-in code"),
            code=code,
            code_minutes=self.auth.LOGIN_CODE_EXPIRE_MINUTES,
            **request_origin(),
        )
        self.one_off_mail.send_soon(email)

    def send_no_account(self, email_to: str) -> None:
        email = self.templates.to_account(
            "login_no_account", email_to, mark("no account with this address"), **request_origin()
        )
        self.one_off_mail.send_soon(email)


def request_origin() -> dict[str, str]:
    """Return the device and IP address of the request, for the text of the email."""
    origin = current_origin()
    agent = origin.user_agent or ""
    label = label_of(agent) if agent.startswith(_BROWSERS_BEGIN) else None
    return {"device": label or UNKNOWN, "address": origin.address or mark("an unknown address")}


def by_mailed_code(codes: LoginCodes, failures: Failures) -> StepUpMethod:
    """Return the step-up method: the caller shows a code from the account's email."""

    def show(caller: Caller, given: tuple[str, str], options: SignInOptions) -> str:
        login_id, code = given
        try:
            codes.use(login_id, code, only=caller.account)
        except InvalidProof:
            failures.count(caller.account.email, options.ip_address)
            raise
        return MAILED_CODE

    return show


def assemble(context: Context) -> None:
    context.provide(LoginCodes, _codes)
    context.provide(LoginCodeFeature, _feature)
    context.provide(LoginByCode, _login)


def code_purpose(context: Context, name: str) -> Purpose:
    life = timedelta(minutes=context.settings.of(AuthSettings).LOGIN_CODE_EXPIRE_MINUTES)
    return Purpose(name, token_life=life, code_life=life)


def code_limit(context: Context) -> Callable[[str, str], None]:
    """Return what counts an email with a code: an address gets no more emails by another way."""
    auth = context.settings.of(AuthSettings)
    return mail_limit(context.get(Failures), auth, LOGIN_CODE, auth.LOGIN_CODE_LIMIT)


def code_mails(context: Context) -> LoginCodeMails:
    one_off_mail = context.get(OneOffMail)  # type: ignore[type-abstract]
    return LoginCodeMails(context.settings.of(AuthSettings), context.get(Templates), one_off_mail)


def _codes(context: Context) -> LoginCodes:
    purpose = code_purpose(context, LOGIN_CODE)
    return LoginCodes(context.keystore, context.get(Proofs), context.get(Accounts), purpose)


def _feature(context: Context) -> LoginCodeFeature:
    method = by_mailed_code(context.get(LoginCodes), context.get(Failures))
    return LoginCodeFeature(StepUp({"code": method}, (InvalidProof,)))


def _login(context: Context) -> LoginByCode:
    return LoginByCode(
        context.get(Accounts),
        context.get(LoginCodes),
        code_limit(context),
        context.get(Failures),
        partial(
            may_sign_up, context.get(SignUpPolicy), lambda: "registration" not in context.schemas
        ),
        context.get(SignInPolicy),
        code_mails(context),
    )
