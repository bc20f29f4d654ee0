"""Making an account of one's own.

Where addresses must be proven, known and unknown ones are answered alike and after the same work;
the mail tells the truth to who reads it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import update

from ..accounts.actions import REGISTRATION_PASSED_OVER, REGISTRATION_REQUESTED
from ..accounts.addresses import read_new_email
from ..accounts.errors import EmailTaken
from ..accounts.models import PENDING, AccountLike
from ..accounts.service import Accounts
from ..auth.admission import INVITATION_DOOR, REGISTRATION_DOOR, Admission
from ..auth.limits import RegistrationLimits
from ..auth.proofs import AccountProofs, Proofs, Purpose, PurposeProofs
from ..auth.settings import AuthSettings
from ..auth.sign_in.options import SignInOptions
from ..auth.sign_in.policy import Challenge, SignInPolicy, SignInResult
from ..core.config.environment import SettingsError
from ..core.context import BasicService, Context, report_action
from ..core.db.transaction import after_commit, release, transaction
from ..core.types import JsonObject
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.message import Email
from ..workspaces.invitations.received import ReceivedInvitations
from ..workspaces.invitations.schemas import OtherAddress
from .schemas import RegistrationClosed, RegistrationRefused
from .verification import VERIFICATION, RegistrationMails, Verification

log = logging.getLogger(__name__)

# What an account proves itself by when it has just been made.
REGISTRATION = "registration"


@dataclass(eq=False)
class Registration(BasicService):
    accounts: Accounts
    admission: Admission
    invitations: ReceivedInvitations
    verification: Verification
    policy: SignInPolicy
    settings: AuthSettings

    def __post_init__(self) -> None:
        super().__post_init__()
        # An address is verified by the same emails, within the same limits.
        self.limits, self.mails = self.verification.limits, self.verification.mails

    def register(
        self,
        options: SignInOptions,
        email: str,
        password: str,
        invitation: str | None,
        **more: object,
    ) -> SignInResult | Challenge | None:
        """Signed in, or None where the address must be proven first."""
        self.limits.count(options.address)
        email = read_new_email(email)
        self.accounts.passwords.rules.check(password, email, "password")
        if invitation is not None:
            return self._by_invitation(email, password, invitation, more, options)
        if self.settings.REGISTRATION == "invited":
            raise RegistrationClosed
        is_welcome = self.admission.admits(email, REGISTRATION_DOOR)
        if self.settings.EMAIL_VERIFICATION != "required":
            if not is_welcome:
                raise RegistrationRefused
            return self._at_once(email, password, more, options)
        # The hash takes most of the time, and is computed for every address.
        more["password_hash"] = self._hash(password)
        # Several for one address, at once or soon after each other, are one.
        if self.limits.may_mail(email):
            try:
                self._await_proof(email, more, is_welcome)
            except EmailTaken:
                log.info("Two registered one address at once: the first of them has a mail")
        return None

    def _at_once(
        self, email: str, password: str, more: JsonObject, options: SignInOptions
    ) -> SignInResult | Challenge:
        more["password_hash"] = self._hash(password)
        with transaction(self.session):
            more["email_unverified_since"] = self.clock.now()
            account = self.accounts.create(email, None, status=self.accounts.active_status, **more)
            if self.settings.EMAIL_VERIFICATION == "optional" and self.limits.may_mail(email):
                after_commit(self.session, lambda: self.verification.mail(account))
            return self.policy.admit(account, (REGISTRATION,), options)

    def _await_proof(self, email: str, more: JsonObject, is_welcome: bool) -> None:
        with transaction(self.session):
            account = self.accounts.find(email)
            if account is None and is_welcome:
                account = self.accounts.create(
                    email,
                    None,
                    status=PENDING,
                    email_unverified_since=self.clock.now(),
                    **more,
                )
                report_action(self.session, REGISTRATION_REQUESTED, account)
            elif account is not None and account.status == PENDING:
                # The mail that goes out now is about this password, and ends those before it.
                account.password_hash = more["password_hash"]
                self.session.flush()
            else:
                whose = None if account is None else account.id
                report_action(self.session, REGISTRATION_PASSED_OVER, account_id=whose)
                notice = self._notice(email, account)
                after_commit(self.session, lambda: self.verification.owner_mail.send_soon(notice))
                return
            waiting: AccountLike = account
            after_commit(self.session, lambda: self.verification.mail(waiting))

    def _notice(self, email: str, account: AccountLike | None) -> Email:
        if account is None:
            return self.mails.refused(email)
        # A write that changes nothing, so that it takes as long as making one.
        model = self.accounts.model
        self.session.execute(
            update(model)
            .where(model.id == account.id)
            .values(email=model.email)
            .execution_options(synchronize_session=False)
        )
        return self.mails.already_registered(email)

    def _by_invitation(
        self,
        email: str,
        password: str,
        invitation: str,
        more: JsonObject,
        options: SignInOptions,
    ) -> SignInResult | Challenge:
        """The mailed secret proves the address."""
        if self.invitations.invited_address(invitation) != email:
            raise OtherAddress
        if not self.admission.admits(email, INVITATION_DOOR):
            raise RegistrationRefused
        more["password_hash"] = self._hash(password)
        with transaction(self.session):
            account = self.accounts.find(email)
            if account is None:
                status = self.accounts.active_status
                account = self.accounts.create(email, None, status=status, **more)
            elif self.accounts.has_proven_address(account):
                raise EmailTaken
            else:
                # Another person may have registered this address without verification.
                self.accounts.reclaim(account)
                account.password_hash = more["password_hash"]
                self.session.flush()
            self.invitations.accept_by_token(account, invitation)
            return self.policy.admit(account, (REGISTRATION,), options)

    def _hash(self, password: str) -> str:
        """No database connection waits for it."""
        release(self.session)
        return self.accounts.passwords.hash(password)


def assemble(context: Context) -> None:
    accounts, auth = context.get(Accounts), context.settings.of(AuthSettings)
    limits = RegistrationLimits(context.keystore, auth)
    mails = RegistrationMails(context.settings.core, auth, context.get(Templates))
    purpose = Purpose(
        VERIFICATION,
        token_life=timedelta(hours=auth.EMAIL_TOKEN_EXPIRE_HOURS),
        code_life=timedelta(minutes=auth.EMAIL_CODE_EXPIRE_MINUTES),
    )
    proofs = AccountProofs(context.get(Proofs), accounts, context.tables.account_ids)
    verification = Verification(
        context.basics,
        accounts,
        PurposeProofs(purpose, proofs),
        limits,
        mails,
        context.get(OwnerMail),
    )
    context.add(verification)
    keep_days = auth.UNVERIFIED_KEEP_DAYS
    context.contributions.pruners["unverified_accounts"] = lambda: verification.prune(keep_days)
    if auth.REGISTRATION == "closed":
        context.mark_unavailable(RegistrationClosed, Registration)
        return
    _check(auth, accounts.model)
    context.add(
        Registration(
            context.basics,
            accounts,
            context.get(Admission),
            context.get(ReceivedInvitations),
            verification,
            context.get(SignInPolicy),
            auth,
        )
    )


def _check(auth: AuthSettings, model: type[object]) -> None:
    if auth.REGISTRATION == "domains" and not auth.REGISTRATION_DOMAINS:
        raise SettingsError("AUTH.REGISTRATION is `domains`, so REGISTRATION_DOMAINS must be set.")
    if not hasattr(model, "email_unverified_since"):
        raise SettingsError(
            f"AUTH.REGISTRATION is `{auth.REGISTRATION}`, so {model.__name__} needs a column"
            " email_unverified_since: AccountMixin has it."
        )
