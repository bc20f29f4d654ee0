"""Signing in through an identity provider.

The browser is sent to the provider with secrets that stay in its session (`begin`), and comes back
to the client with a code. The client hands the code to us; the provider tells whose it is, and from
there on it is a login like any other (`finish`). Whom we have met before is known by issuer and
subject; the e-mail decides only at the first meeting.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from sqlalchemy.exc import IntegrityError

from ...accounts.addresses import folds_to_ascii, read_email
from ...accounts.errors import EmailTaken, InvalidEmail
from ...accounts.service import Accounts
from ...core.context import BasicService, report_action
from ...core.db.transaction import after_commit, transaction
from ...core.types import Values
from ...delivery.mail.one_off import OwnerMail
from ..actions import ACCOUNT_CREATE, IDENTITY_REQUESTED
from ..admission import PROVIDER_DOOR, Admission
from ..errors import (
    AmbiguousEmail,
    EmailNotVerified,
    InactiveAccount,
    NoAccountCreated,
    SignUpClosed,
    UnknownSignIn,
)
from ..mails import Mails
from ..sign_in.options import PROVIDER, SignInOptions
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult
from .identities import Identities
from .pending import PendingSignIn, PendingSignIns

log = logging.getLogger(__name__)


class IdpUserInfo(NamedTuple):
    """Who the provider says it is, for the listener that makes an account of it."""

    email: str
    # What the host's schema made of `auth_data`; None where the host has no such schema.
    auth_payload: Any
    # The id of the person at the provider, which stays when the e-mail changes.
    subject: str
    # All that the provider vouches for, such as `name` and `picture`.
    claims: Values
    # The provider that issued `subject`: another provider may use the same value.
    issuer: str


class Provider(Protocol):
    def begin(self, redirect_uri: str) -> tuple[str, PendingSignIn]:
        """Where to send the browser, and what to remember until it is back."""

    def claims(self, code: str, redirect_uri: str, pending: PendingSignIn | None) -> Values:
        """What the provider vouches for about the person who came back with `code`."""


class ProviderAccess(NamedTuple):
    # The provider needs heavy libraries, so it is made when it is first needed.
    open: Callable[[], Provider]
    # Off: sign-ins without cookies.
    needs_session: bool


@dataclass(frozen=True)
class IdentityNotices:
    mails: Mails
    owner_mail: OwnerMail

    def linked(self, email_to: str, issuer: str) -> None:
        self.owner_mail.notify(self.mails.identity_linked(email_to, issuer))


@dataclass(eq=False)
class IdpSignIn(BasicService):
    provider: ProviderAccess
    accounts: Accounts
    identities: Identities
    policy: SignInPolicy
    notices: IdentityNotices
    admission: Admission

    def begin(self, redirect_uri: str, begun: PendingSignIns) -> str:
        """The provider's page to send the browser to."""
        url, pending = self.provider.open().begin(redirect_uri)
        begun.add(pending)
        return url

    def finish(
        self,
        begun: PendingSignIns,
        options: SignInOptions,
        *,
        code: str,
        redirect_uri: str,
        state: str | None,
        auth_payload: object,
    ) -> SignInResult | Challenge:
        """Sign in the person for whom the provider issued `code`."""
        pending = self._begun(begun, redirect_uri, state)
        claims = self.provider.open().claims(code, redirect_uri, pending)
        issuer, subject = claims["iss"], claims["sub"]
        outcome = self._admit(issuer, subject, options)
        if outcome is None:
            self._meet(IdpUserInfo(_email(claims), auth_payload, subject, claims, issuer))
            outcome = self._admit(issuer, subject, options)
        if outcome is None:
            raise NoAccountCreated
        return outcome

    def _begun(
        self, begun: PendingSignIns, redirect_uri: str, state: str | None
    ) -> PendingSignIn | None:
        """Return the sign-in that this browser began: a code from elsewhere may be an
        attacker's."""
        any_begun = bool(begun)
        pending = begun.take(redirect_uri, state)
        if pending is None and (self.provider.needs_session or any_begun):
            raise UnknownSignIn
        return pending

    def _admit(
        self, issuer: str, subject: str, options: SignInOptions
    ) -> SignInResult | Challenge | None:
        with transaction(self.session):
            account = self.identities.owner(issuer, subject)
            if account is None:
                return None
            outcome = self.policy.admit(account, (PROVIDER,), options)
            self.identities.used(issuer, subject)
            return outcome

    def _meet(self, person: IdpUserInfo) -> None:
        """From now on this person is known, by the account that has the e-mail or by a new one."""
        if self._link(person):
            return
        if not self.admission.admits(person.email, PROVIDER_DOOR):
            raise SignUpClosed
        try:
            self._create(person)
        except (EmailTaken, IntegrityError):
            # Two callbacks for one new person: the other was first, and the account is there.
            if not self._link(person):
                raise

    def _link(self, person: IdpUserInfo) -> bool:
        with transaction(self.session):
            account = self.accounts.find(person.email)
            if account is None:
                return False
            if not self.accounts.has_proven_address(account):
                self.accounts.reclaim(account)
            if not self.accounts.is_active(account):
                raise InactiveAccount(note={"account_id": account.id})
            if self.identities.link(account, person.issuer, person.subject, person.email):
                email_to = account.email
                after_commit(self.session, lambda: self.notices.linked(email_to, person.issuer))
            return True

    def _create(self, person: IdpUserInfo) -> None:
        """A separate transaction: an account that is created inactive, for approval, must stay."""
        with transaction(self.session):
            listeners = report_action(self.session, IDENTITY_REQUESTED, person)
            self.session.flush()
            account = self.accounts.find(person.email)
            if account is None:
                log.error(
                    "A sign-up through the identity provider failed: %s. Register one with"
                    " frontdesk.on('%s'); it must add an account with the e-mail it is given.",
                    "its listener created no account" if listeners else "there is no listener",
                    ACCOUNT_CREATE.name,
                )
                raise NoAccountCreated
            self.identities.link(account, person.issuer, person.subject, person.email)


def _email(claims: Values) -> str:
    """Return the email address of a new person; an unverified one may belong to anybody."""
    email, is_verified = claims.get("email"), claims.get("email_verified")
    if is_verified is not True or not isinstance(email, str):
        log.warning(
            "A new user of the identity provider was rejected: email is %s, email_verified is"
            " %.40r, expected True",
            "present" if "email" in claims else "missing",
            is_verified,
        )
        raise EmailNotVerified
    if folds_to_ascii(email):
        log.warning(
            "A new user of the identity provider was rejected: email has look-alike letters"
        )
        raise AmbiguousEmail
    try:
        return read_email(email)
    except InvalidEmail:
        log.warning("A new user of the identity provider was rejected: email is no email address")
        raise EmailNotVerified from None
