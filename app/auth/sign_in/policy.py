"""The sign-in policy: what every sign-in passes after its proof, whatever the proof was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ...accounts.models import DELETING, PENDING, SUSPENDED, AccountLike
from ...accounts.service import Accounts, SignInState, state_of
from ...core.context import BasicService, report_action
from ...core.db.transaction import after_commit, is_locked, transaction
from ...core.errors import Problem
from ...core.request import rate_limit_network, set_origin_account
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
from ..proof_names import MULTIPLE, PASSKEY, PASSWORD, PROVIDER, has_factor, methods
from ..tokens.access import AMR, Revocations, Tokens
from .options import SignInOptions

if TYPE_CHECKING:
    # Loaded only where sessions are on.
    from ..sessions.models import AccountSession
    from ..sessions.service import Sessions, SessionStart


# The options of a sign-in outside a request.
NO_OPTIONS = SignInOptions()


@dataclass(eq=False)
class SignIn:
    account: AccountLike
    # The given proofs in order: a second factor comes after a password.
    by: tuple[str, ...]
    options: SignInOptions
    # When the user showed a second factor in an earlier step of the same sign-in.
    factor_at: float | None = None
    # Names the sign-in at an identity provider, for `link_session`.
    reference: str = ""

    @property
    def has_factor(self) -> bool:
        return self.factor_at is not None or has_factor(self.by)


class SignInResult(NamedTuple):
    """The response of the login route, and the stored session."""

    payload: JsonObject
    session: AccountSession | None = None
    # The secret for the session cookie; the server stores only its digest.
    secret: bytes | None = None


class Challenge(NamedTuple):
    """The sign-in needs another step first; the problem names the step.

    It is returned and not raised, so that the transaction is committed.
    """

    problem: Problem


def response_payload(outcome: SignInResult | Challenge) -> JsonObject:
    """Return the response of a sign-in; raise the problem of a challenge."""
    if isinstance(outcome, Challenge):
        raise outcome.problem
    return outcome.payload


# Stages run in order. A stage raises to reject the sign-in, and returns None to accept it.
Stage = Callable[[SignIn], Challenge | None]


class SessionUse(NamedTuple):
    """What a sign-in leaves. By default, none has a stored session."""

    # For every sign-in.
    sessions: Sessions | None = None
    # For sign-ins by cookie, if other sign-ins have no session.
    cookie_sessions: Sessions | None = None
    # Called within the transaction of a sign-in or a re-authentication.
    set_cookie: Callable[[SignInResult], object] | None = None
    # Remembers the network of a sign-in, by the email address and the network.
    trust_network: Callable[[str, str], object] | None = None
    # Links a new session to the session at an identity provider, by the reference of the sign-in.
    link_session: Callable[[AccountSession, str], object] | None = None


@dataclass(eq=False)
class SignInPolicy(BasicService):
    accounts: Accounts
    tokens: Tokens
    revocations: Revocations
    stages: Sequence[Stage]
    # The errors of the stages, which every sign-in route documents.
    refusals: tuple[type[Problem], ...]
    session_use: SessionUse

    def __post_init__(self) -> None:
        super().__post_init__()
        use = self.session_use
        self.sessions, self.cookie_sessions, self.set_cookie, self.trust_network = use[:4]

    def admit(
        self,
        account: AccountLike,
        by: tuple[str, ...],
        options: SignInOptions = NO_OPTIONS,
        *,
        factor_at: float | None = None,
        reference: str = "",
    ) -> SignInResult | Challenge:
        """Sign in an account after its proof; return a challenge if a stage requires more.

        The account's row is locked and compared with its state at the time of the proof before
        anything is written: a concurrent change of credentials rejects or ends this sign-in.
        """
        sign_in = SignIn(account, by, options, factor_at, reference)
        with transaction(self.session) as session:
            # The code that locked the row has compared it with the proof.
            compared = is_locked(session, account)
            proved = None if compared else (account.status, state_of(account))
            for stage in self.stages:
                challenge = stage(sign_in)
                if challenge is not None:
                    return challenge
            if proved is not None:
                self._lock(account, proved, by)
            return self._open(sign_in)

    def lock(self, account: AccountLike, by: tuple[str, ...]) -> None:
        """Lock the row of an account that the open transaction has read, before the stages."""
        if not is_locked(self.session, account):
            self._lock(account, (account.status, state_of(account)), by)

    def _lock(
        self, account: AccountLike, proved: tuple[str, SignInState], by: tuple[str, ...]
    ) -> None:
        account_id = account.id
        stored = self.accounts.lock(account_id)
        if stored is not None and (stored.status, state_of(stored)) == proved:
            return
        if stored is not None:
            check_active(self.accounts, stored)
        raise stale_proof_error(by, account_id)

    def _open(self, sign_in: SignIn) -> SignInResult:
        account = sign_in.account
        if account.status == SUSPENDED:
            self.accounts.reinstate(account)
        account.logged_out_at = None
        trust, email, ip_address = self.trust_network, account.email, sign_in.options.ip_address
        network = rate_limit_network(ip_address)
        set_origin_account(account.id)
        self.revocations.remove(self.session, email)
        # An attacker who has the password, and not the second factor, does not get here.
        if trust is not None and ip_address:
            after_commit(self.session, partial(trust, email, network))
        # An application's account model may have None in place of this column.
        if getattr(type(account), "last_login_date", None) is not None:
            cast(Any, account).last_login_date = self.clock.now()
        report_action(
            self.session, LOGIN_SUCCEEDED, account, account_id=account.id, proofs=sign_in.by
        )
        start = self._start_session(sign_in)
        session, secret = start if start else (None, None)
        if session is not None and sign_in.reference and self.session_use.link_session:
            self.session_use.link_session(session, sign_in.reference)
        return self._set_session_cookie(
            SignInResult(self._payload(sign_in, session), session, secret)
        )

    def renew(
        self,
        account: AccountLike,
        by: tuple[str, ...],
        options: SignInOptions,
        session: AccountSession | None = None,
    ) -> SignInResult:
        """Return new credentials after re-authentication. No stage runs: the caller is signed in
        already."""
        sign_in = SignIn(account, by, options)
        with transaction(self.session):
            return self._set_session_cookie(SignInResult(self._payload(sign_in, session), session))

    def _set_session_cookie(self, result: SignInResult) -> SignInResult:
        if self.set_cookie is not None and result.session is not None:
            self.set_cookie(result)
        return result

    def _payload(self, sign_in: SignIn, session: AccountSession | None) -> JsonObject:
        credentials = self._credentials(sign_in, session)
        default = {**credentials, "account": sign_in.account, "user": None}
        payload: JsonObject = self.hooks.payload(default, self.session)
        return payload

    def refresh(self, account: AccountLike, session: AccountSession) -> JsonObject:
        """Return the response of a sign-in for a refreshed session. The hooks run again: what they
        return for the account may have changed."""
        set_origin_account(account.id)
        return self._payload(SignIn(account, (), SignInOptions(refresh=True)), session)

    def reissue(
        self, account: AccountLike, factor_at: float | None, expires_at: float | None
    ) -> JsonObject:
        """Return a token for a caller whose tokens have just ended. It expires when the caller's
        token would have: repeating this does not extend a sign-in."""
        by = () if factor_at is None else (MULTIPLE,)
        latest = None if expires_at is None else datetime.fromtimestamp(expires_at, UTC)
        return self._credentials(SignIn(account, by, NO_OPTIONS), None, latest)

    def _credentials(
        self, sign_in: SignIn, session: AccountSession | None, latest: datetime | None = None
    ) -> JsonObject:
        """Return an access token, or only its expiry if the response sets a session cookie."""
        account = sign_in.account
        issued_at = self._issue_time(account)
        claims = self.hooks.claims(account, self.session)
        if session is not None and sign_in.options.cookie:
            return {"expires": session.expires_at}
        sign_in_claims: JsonObject = {}
        if session is not None:
            latest = session.expires_at
            sign_in_claims = {
                AMR: session.amr.split(),
                "auth_time": int(session.authenticated_at.timestamp()),
                "sid": str(session.public_id),
            }
        elif AMR in self.tokens.protected:
            sign_in_claims = {AMR: methods(sign_in.by)}
        token, expires = self.tokens.issue(account.email, claims, issued_at, sign_in_claims, latest)
        credentials = {"access_token": token, "expires": expires, "token_type": "bearer"}
        if self.sessions is not None and session is not None:
            credentials |= self.sessions.refresh_payload(session, sign_in.options)
        return credentials

    def _start_session(self, sign_in: SignIn) -> SessionStart | None:
        sessions = self.sessions
        if sessions is None and sign_in.options.cookie:
            sessions = self.cookie_sessions
        if sessions is None:
            return None
        return sessions.start(
            sign_in.account,
            sign_in.by,
            sign_in.options,
            token_life=self.tokens.lifetime,
            factor_at=sign_in.factor_at,
            created_at=self._issue_time(sign_in.account),
        )

    def _issue_time(self, account: AccountLike) -> datetime:
        """Return the time of a new token or session. A token that follows a revocation directly, or
        is issued on a machine with a slow clock, is valid."""
        now, since = self.clock.now(), account.tokens_valid_from or account.created_at
        # Rows from before the column was added have no creation time.
        if since is None:
            return now
        # An application's own column may store no offset.
        return max(now, since if since.tzinfo else since.replace(tzinfo=UTC))


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


def stale_proof_error(by: tuple[str, ...], account_id: object) -> Problem:
    """Return the error of a sign-in if its account was changed after the proof: the error that
    the same proof would get now."""
    note = {"event": "sign_in", "account_id": account_id}
    if by == (PASSWORD,):
        return IncorrectCredentials(note=note)
    if by == (PASSKEY,):
        return PasskeyRefused("account_changed", account_id=account_id)
    return SignInRefused(note=note) if by == (PROVIDER,) else InvalidProof(note=note)
