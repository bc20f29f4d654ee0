"""Signing in through an identity provider.

The browser is sent to the provider with secrets that stay in its session (`begin`), and comes back
to the client with a code. The client hands the code to us; the provider tells whose it is, and from
there on it is a login like any other (`finish`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from sqlalchemy.exc import IntegrityError

from ..accounts.addresses import read_email
from ..accounts.errors import EmailTaken, InvalidEmail
from ..accounts.service import Accounts
from ..core.events import Emitter
from ..core.transaction import AnySession, transaction
from .errors import EmailNotVerified, NoAccountCreated, SignUpClosed, UnknownSignIn
from .pending import PendingSignIn, PendingSignIns
from .sessions import Sessions

log = logging.getLogger(__name__)

ACCOUNT_CREATE = "idp-account-create"


class IdpUserInfo(NamedTuple):
    """Who the provider says it is, for the listener that makes an account of it."""

    email: str
    # What the host's schema made of `auth_data`; None where the host has no such schema.
    auth_payload: Any
    # The id of the person at the provider, which stays when the e-mail changes.
    subject: str
    # All that the provider vouches for, such as `name` and `picture`.
    claims: Mapping[str, Any]


class Provider(Protocol):
    def begin(self, redirect_uri: str) -> tuple[str, PendingSignIn]:
        """Where to send the browser, and what to remember until it is back."""

    def claims(
        self, code: str, redirect_uri: str, pending: PendingSignIn | None
    ) -> Mapping[str, Any]:
        """What the provider vouches for about the person who came back with `code`."""


class IdpSignIn:
    def __init__(
        self,
        session: AnySession,
        open_provider: Callable[[], Provider],
        accounts: Accounts,
        sessions: Sessions,
        emitter: Emitter,
        *,
        may_sign_up: bool,
        needs_session: bool,
    ) -> None:
        self.session = session
        # Speaking with it takes heavy libraries, so it is made when it is first needed.
        self.open_provider = open_provider
        self.accounts = accounts
        self.sessions = sessions
        self.emitter = emitter
        self.may_sign_up = may_sign_up
        self.needs_session = needs_session

    def begin(self, redirect_uri: str, begun: PendingSignIns) -> str:
        """The provider's page to send the browser to."""
        url, pending = self.open_provider().begin(redirect_uri)
        begun.add(pending)
        return url

    def finish(
        self,
        begun: PendingSignIns,
        *,
        code: str,
        redirect_uri: str,
        state: str | None,
        auth_payload: Any,
    ) -> dict[str, Any]:
        """The login response's payload, for whoever the provider says came back with `code`."""
        pending = self._begun(begun, redirect_uri, state)
        claims = self.open_provider().claims(code, redirect_uri, pending)
        person = _person(claims, auth_payload)
        payload = self._open(person.email)
        if payload is None:
            self._sign_up(person)
            payload = self._open(person.email)
        if payload is None:
            raise NoAccountCreated
        return payload

    def _begun(
        self, begun: PendingSignIns, redirect_uri: str, state: str | None
    ) -> PendingSignIn | None:
        """Without its own secrets a browser may have been handed somebody else's code."""
        any_begun = bool(begun)
        pending = begun.take(redirect_uri, state)
        if pending is None and (self.needs_session or any_begun):
            raise UnknownSignIn
        return pending

    def _open(self, email: str) -> dict[str, Any] | None:
        with transaction(self.session):
            account = self.accounts.find(email)
            return self.sessions.open(account) if account is not None else None

    def _sign_up(self, person: IdpUserInfo) -> None:
        if not self.may_sign_up:
            raise SignUpClosed
        try:
            self._create(person)
        except (EmailTaken, IntegrityError):
            # Two callbacks for one new person: the other was first, and the account is there.
            if self.accounts.find(person.email) is None:
                raise

    def _create(self, person: IdpUserInfo) -> None:
        """A transaction of its own: an account made inactive, to be approved, is to stay."""
        with transaction(self.session):
            listeners = self.emitter.emit(ACCOUNT_CREATE, person, self.session)
            self.session.flush()
            if self.accounts.find(person.email) is None:
                log.error(
                    "A sign-up through the identity provider failed: %s. Register one with"
                    " frontdesk.on('%s'); it must add an account with the e-mail it is given.",
                    "its listener created no account" if listeners else "there is no listener",
                    ACCOUNT_CREATE,
                )
                raise NoAccountCreated


def _person(claims: Mapping[str, Any], auth_payload: Any) -> IdpUserInfo:
    """An e-mail that the provider has not verified may be anybody's, so it opens nothing."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        raise EmailNotVerified
    try:
        email = read_email(email)
    except InvalidEmail:
        raise EmailNotVerified from None
    return IdpUserInfo(email, auth_payload, str(claims["sub"]), claims)
