"""The one gate between "proved who it is" and "signed in", whatever the proof was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ...accounts.models import DELETING, PENDING, SUSPENDED, AccountLike
from ...accounts.service import Accounts, SignInState, state_of
from ...core.context import BasicService, report_action
from ...core.db.transaction import is_locked, transaction
from ...core.errors import Problem
from ...core.request import set_origin_account
from ...core.types import JsonObject
from ..actions import LOGIN_SUCCEEDED
from ..errors import (
    AccountDeleting,
    AwaitsVerification,
    InactiveAccount,
    IncorrectCredentials,
    InvalidProof,
    PasskeyRefused,
    SignInRefused,
)
from ..tokens.access import AMR, Revocations, Tokens
from .options import PASSKEY, PASSWORD, PROVIDER, SignInOptions, has_factor, methods

if TYPE_CHECKING:
    # Loaded only where sessions are on.
    from ..sessions.models import AccountSession
    from ..sessions.service import Sessions, SessionStart


# Of a sign-in outside a request.
NO_OPTIONS = SignInOptions()


@dataclass(eq=False)
class SignIn:
    """A sign-in in progress."""

    account: AccountLike
    # Each proof that was given, in order: a second factor comes after a password.
    by: tuple[str, ...]
    options: SignInOptions
    # When it has shown a second factor already: the sign-in from which it goes on did.
    factor_at: float | None = None

    @property
    def has_factor(self) -> bool:
        return self.factor_at is not None or has_factor(self.by)


class SignInResult(NamedTuple):
    """Signed in: what the login route answers, and the server's own record of it."""

    payload: JsonObject
    session: AccountSession | None = None
    # What a cookie is to hold; here for the last time.
    secret: bytes | None = None


class Challenge(NamedTuple):
    """The sign-in needs another step first; the problem tells the client which.

    Returned and not raised, so that what the sign-in has written so far is stored.
    """

    problem: Problem


def payload_of(outcome: SignInResult | Challenge) -> JsonObject:
    """Return the response of a sign-in; raise the problem of a challenge."""
    if isinstance(outcome, Challenge):
        raise outcome.problem
    return outcome.payload


# Asked in turn. One that raises refuses, and one that returns None lets the account pass.
Stage = Callable[[SignIn], Challenge | None]


class SessionUse(NamedTuple):
    """Which sign-ins have a session; none where nothing is switched on."""

    # Of every sign-in.
    sessions: Sessions | None = None
    # Of sign-ins by a cookie, where no other has one.
    cookie_sessions: Sessions | None = None
    # Called within the transaction of a sign-in or a re-authentication.
    set_cookie: Callable[[SignInResult], object] | None = None


@dataclass(eq=False)
class SignInPolicy(BasicService):
    accounts: Accounts
    tokens: Tokens
    revocations: Revocations
    stages: Sequence[Stage]
    # What the stages refuse with, at every route that signs in.
    refusals: tuple[type[Problem], ...]
    session_use: SessionUse

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sessions, self.cookie_sessions, self.set_cookie = self.session_use

    def admit(
        self,
        account: AccountLike,
        by: tuple[str, ...],
        options: SignInOptions = NO_OPTIONS,
        *,
        factor_at: float | None = None,
    ) -> SignInResult | Challenge:
        """Sign an account in that has proved who it is, unless a stage asks for more.

        Before anything is written its row is locked, and compared with what the account was when
        it proved that: a change of its credentials that overlaps refuses this sign-in or ends it.
        """
        sign_in = SignIn(account, by, options, factor_at)
        with transaction(self.session):
            # What locked the row has compared it with the proof.
            compared = is_locked(self.session, account)
            proved = None if compared else (account.status, state_of(account))
            for stage in self.stages:
                challenge = stage(sign_in)
                if challenge is not None:
                    return challenge
            if proved is not None:
                self._lock(account, proved, by)
            return self._open(sign_in)

    def _lock(
        self, account: AccountLike, proved: tuple[str, SignInState], by: tuple[str, ...]
    ) -> None:
        account_id = account.id
        stored: AccountLike | None = self.accounts.lock(account_id)
        if stored is not None and (stored.status, state_of(stored)) == proved:
            return
        if stored is not None:
            check_active(self.accounts, stored)
        raise overtaken(by, account_id)

    def _open(self, sign_in: SignIn) -> SignInResult:
        account = sign_in.account
        if account.status == SUSPENDED:
            self.accounts.reinstate(account)
        account.logged_out_at = None
        self.revocations.remove(self.session, account.email)
        # A host that does without it has None in the column's place.
        if getattr(type(account), "last_login_date", None) is not None:
            cast(Any, account).last_login_date = self.clock.now()
        set_origin_account(account.id)
        report_action(
            self.session, LOGIN_SUCCEEDED, account, account_id=account.id, proofs=sign_in.by
        )
        begun = self._begin(sign_in)
        session, secret = begun if begun else (None, None)
        return self._told(SignInResult(self._answered(sign_in, session), session, secret))

    def renew(
        self,
        account: AccountLike,
        by: tuple[str, ...],
        options: SignInOptions,
        session: AccountSession | None = None,
    ) -> SignInResult:
        """Another token for who is in already and has shown once more who it is: nobody comes in by
        that, and so no stage is asked."""
        sign_in = SignIn(account, by, options)
        with transaction(self.session):
            return self._told(SignInResult(self._answered(sign_in, session), session))

    def _told(self, opened: SignInResult) -> SignInResult:
        if self.set_cookie is not None and opened.session is not None:
            self.set_cookie(opened)
        return opened

    def _answered(self, sign_in: SignIn, session: AccountSession | None) -> JsonObject:
        carried = self.carried(sign_in, session)
        payload = {**carried, "account": sign_in.account, "user": None}
        answered: JsonObject = self.hooks.payload(payload, self.session)
        return answered

    def go_on(self, account: AccountLike, session: AccountSession) -> JsonObject:
        """As at a sign-in, for whoever is in already and refreshes that: what hooks say of the
        account may have changed."""
        set_origin_account(account.id)
        return self._answered(SignIn(account, (), SignInOptions(refresh=True)), session)

    def carried(self, sign_in: SignIn, session: AccountSession | None) -> JsonObject:
        """What the client shows from now on: an access token, or a cookie that the answer sets."""
        account = sign_in.account
        claims = self.hooks.claims(account, self.session)
        if session is not None and sign_in.options.cookie:
            return {"expires": session.expires_at}
        told: JsonObject = {AMR: methods(sign_in.by)}
        latest = None
        if session is not None:
            latest = session.expires_at
            told = {
                AMR: session.amr.split(),
                "auth_time": int(session.authenticated_at.timestamp()),
                "sid": str(session.public_id),
            }
        token, expires = self.tokens.issue(account.email, claims, told, latest)
        carried = {"access_token": token, "expires": expires, "token_type": "bearer"}
        if self.sessions is not None and session is not None:
            carried |= self.sessions.refreshing(session, sign_in.options)
        return carried

    def _begin(self, sign_in: SignIn) -> SessionStart | None:
        sessions = self.sessions
        if sessions is None and sign_in.options.cookie:
            sessions = self.cookie_sessions
        if sessions is None:
            return None
        return sessions.begin(
            sign_in.account,
            sign_in.by,
            sign_in.options,
            token_life=self.tokens.lifetime,
            factor_at=sign_in.factor_at,
        )


def active_only(accounts: Accounts) -> Stage:
    def check(sign_in: SignIn) -> None:
        check_active(accounts, sign_in.account)

    return check


def check_active(accounts: Accounts, account: AccountLike) -> None:
    if account.status == PENDING:
        raise AwaitsVerification(note={"account_id": account.id})
    if account.status == DELETING:
        raise AccountDeleting(note={"account_id": account.id})
    if not accounts.is_active(account):
        raise InactiveAccount(note={"account_id": account.id})


def overtaken(by: tuple[str, ...], account_id: object) -> Problem:
    """The refusal of a sign-in whose account was changed after its proof: the one that its proof
    would meet now."""
    note = {"event": "sign_in", "account_id": account_id}
    if by == (PASSWORD,):
        return IncorrectCredentials(note=note)
    if by == (PASSKEY,):
        return PasskeyRefused("account_changed", account_id=account_id)
    return SignInRefused(note=note) if by == (PROVIDER,) else InvalidProof(note=note)
