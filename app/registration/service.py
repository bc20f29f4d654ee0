"""Registration: users create their own accounts.

If emails must be verified, known and unknown addresses get the same response after the same work,
and only the email says which it was.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import update

from ..accounts.actions import REGISTRATION_IGNORED, REGISTRATION_REQUESTED
from ..accounts.addresses import read_new_email
from ..accounts.errors import EmailTaken
from ..accounts.models import PENDING, AccountLike
from ..accounts.service import Accounts
from ..auth.limits import RegistrationLimits
from ..auth.proofs import AccountProofs, Proofs, Purpose
from ..auth.settings import AuthSettings
from ..auth.sign_in.options import SignInOptions
from ..auth.sign_in.policy import Challenge, SignInPolicy, SignInResult
from ..auth.sign_up_policy import BY_INVITATION, BY_REGISTRATION, SignUpPolicy
from ..core.config.environment import SettingsError
from ..core.context import BasicService, Context, Pruner, report_action
from ..core.db.transaction import after_commit, execute_bulk, release, transaction
from ..core.types import JsonObject
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..workspaces.invitations.received import ReceivedInvitations
from ..workspaces.invitations.schemas import OtherAddress
from .browser import BROWSER, REGISTRATION, PendingRegistration, RegisteredBrowsers
from .schemas import RegistrationClosed, RegistrationRefused
from .verification import VERIFICATION, RegistrationMails, Verification

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Registration(BasicService):
    accounts: Accounts
    sign_up_policy: SignUpPolicy
    invitations: ReceivedInvitations
    verification: Verification
    browsers: RegisteredBrowsers
    policy: SignInPolicy
    settings: AuthSettings

    def __post_init__(self) -> None:
        super().__post_init__()
        # Verification sends the same emails, within the same limits.
        self.limits, self.mails = self.verification.limits, self.verification.mails

    def register(
        self,
        options: SignInOptions,
        email: str,
        password: str | None,
        invitation: str | None,
        **columns: object,
    ) -> SignInResult | Challenge | PendingRegistration:
        """Create an account, and sign it in unless its email must be verified first.

        `columns` are further fields of the application's own schema.
        """
        self.limits.count(options.ip_address)
        email = read_new_email(email)
        if password is not None:
            self.accounts.passwords.rules.check_new_password(password, email, "password")
        if invitation is not None:
            return self._accept_invitation(email, password, invitation, columns, options)
        if self.settings.REGISTRATION == "invited":
            raise RegistrationClosed
        is_admitted = self.sign_up_policy.allows(email, BY_REGISTRATION)
        if self.settings.EMAIL_VERIFICATION != "required":
            if not is_admitted:
                raise RegistrationRefused
            return self._sign_up(email, password, columns, options)
        # The hash takes most of the time, and is computed for every address.
        columns["password_hash"] = self._hash(password)
        account = None
        # Repeated registrations of one address within a short time are ignored.
        if self.limits.may_mail(email):
            try:
                account = self._start_verification(email, columns, is_admitted)
            except EmailTaken:
                log.info("Two concurrent registrations of one email address: the first is emailed")
        return PendingRegistration(self.browsers.issue(email, account))

    def _sign_up(
        self, email: str, password: str | None, columns: JsonObject, options: SignInOptions
    ) -> SignInResult | Challenge:
        columns["password_hash"] = self._hash(password)
        with transaction(self.session) as session:
            columns["email_unverified_since"] = self.clock.now()
            status = self.accounts.active_status
            account = self.accounts.create(email, None, status=status, **columns)
            if self.settings.EMAIL_VERIFICATION == "optional" and self.limits.may_mail(email):
                after_commit(session, lambda: self.verification.send(account))
            return self.policy.admit(account, (REGISTRATION,), options)

    def _start_verification(
        self, email: str, columns: JsonObject, is_admitted: bool
    ) -> AccountLike | None:
        """Return the pending account with this request's password, or None if it is ignored."""
        with transaction(self.session) as session:
            account = self.accounts.find(email)
            if account is None and is_admitted:
                unverified_since = self.clock.now()
                account = self.accounts.create(
                    email, None, status=PENDING, email_unverified_since=unverified_since, **columns
                )
                report_action(session, REGISTRATION_REQUESTED, account)
            elif account is not None and account.status == PENDING:
                # The new email verifies this password and invalidates earlier emails.
                account.password_hash = columns["password_hash"]
                session.flush()
            else:
                self._email_owner(email, account)
                return None
            pending: AccountLike = account
            after_commit(session, lambda: self.verification.send(pending))
        return pending

    def _email_owner(self, email: str, account: AccountLike | None) -> None:
        """Email the owner of a known or rejected address. The work equals that of a new account."""
        account_id = None if account is None else account.id
        report_action(self.session, REGISTRATION_IGNORED, account_id=account_id)
        # One write to the table of accounts, as for a new account.
        model = self.accounts.model
        same = update(model).where(model.email == email).values(email=model.email)
        execute_bulk(self.session, same)
        mails = self.mails
        notice = mails.already_registered(email) if account is not None else mails.refused(email)

        def send() -> None:
            self.verification.proofs.issue_unusable(email)
            self.verification.owner_mail.send_soon(notice)

        after_commit(self.session, send)

    def _accept_invitation(
        self,
        email: str,
        password: str | None,
        invitation: str,
        columns: JsonObject,
        options: SignInOptions,
    ) -> SignInResult | Challenge:
        """Create an account with an email address that the invitation's secret verifies."""
        if self.invitations.invited_address(invitation) != email:
            raise OtherAddress
        if not self.sign_up_policy.allows(email, BY_INVITATION):
            raise RegistrationRefused
        columns["password_hash"] = self._hash(password)
        with transaction(self.session) as session:
            account = self.accounts.find(email)
            if account is None:
                status = self.accounts.active_status
                account = self.accounts.create(email, None, status=status, **columns)
            elif self.accounts.is_email_verified(account):
                raise EmailTaken
            else:
                # Another person may have registered this address without verification.
                self.accounts.reclaim(account)
                account.password_hash = columns["password_hash"]
                session.flush()
            self.invitations.accept_by_token(account, invitation)
            return self.policy.admit(account, (REGISTRATION,), options)

    def _hash(self, password: str | None) -> str | None:
        """Hash without holding a database connection. There is no password if AUTH.PASSWORDS is
        off."""
        release(self.session)
        return None if password is None else self.accounts.passwords.hash(password)


def assemble(context: Context) -> None:
    auth = context.settings.of(AuthSettings)
    context.provide(Verification, _verification)
    context.provide(RegisteredBrowsers, _browsers)
    context.contribute(
        Pruner(
            "unverified_accounts",
            lambda: context.get(Verification).prune(auth.UNVERIFIED_KEEP_DAYS),
        )
    )
    if auth.REGISTRATION == "closed":
        context.mark_unavailable(RegistrationClosed, Registration)
        return
    model = context.tables.account_model
    assert model is not None
    _check(auth, model)
    context.provide(Registration, _registration)


def _verification(context: Context) -> Verification:
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    purpose = Purpose(
        VERIFICATION,
        token_life=timedelta(hours=auth.EMAIL_TOKEN_EXPIRE_HOURS),
        code_life=timedelta(minutes=auth.EMAIL_CODE_EXPIRE_MINUTES),
    )
    return Verification(
        context.basics,
        accounts,
        AccountProofs(purpose, context.get(Proofs), accounts, context.tables.account_ids),
        RegistrationLimits(context.keystore, auth),
        RegistrationMails(auth, context.get(Templates)),
        context.get(OwnerMail),
    )


def _browsers(context: Context) -> RegisteredBrowsers:
    proofs, accounts = context.get(Proofs), context.get(Accounts)
    of_browsers = AccountProofs(BROWSER, proofs, accounts, context.tables.account_ids)
    return RegisteredBrowsers(of_browsers, context.get(SignInPolicy))


def _registration(context: Context) -> Registration:
    return Registration(
        context.basics,
        context.get(Accounts),
        context.get(SignUpPolicy),
        context.get(ReceivedInvitations),
        context.get(Verification),
        context.get(RegisteredBrowsers),
        context.get(SignInPolicy),
        context.settings.of(AuthSettings),
    )


def _check(auth: AuthSettings, model: type[object]) -> None:
    if auth.REGISTRATION == "domains" and not auth.REGISTRATION_DOMAINS:
        raise SettingsError("AUTH.REGISTRATION is `domains`, so REGISTRATION_DOMAINS must be set.")
    if not hasattr(model, "email_unverified_since"):
        raise SettingsError(
            f"AUTH.REGISTRATION is `{auth.REGISTRATION}`, so {model.__name__} needs a column"
            " email_unverified_since: AccountMixin has it."
        )
