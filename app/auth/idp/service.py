"""Sign-in through an identity provider.

`begin` redirects the browser to a provider, with secrets that stay in the browser's session. The
provider redirects it to the client with a code, which the client sends to `finish`: the provider
exchanges the code for the user's claims, and the sign-in continues like any other. Issuer and
subject identify known users; the email address links an account at the first sign-in only.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy.exc import IntegrityError

from ...accounts.errors import MissingValue
from ...accounts.models import AccountLike
from ...core.context import BasicService, report_action
from ...core.db.transaction import transaction
from ...core.errors import Conflict
from ...core.types import JsonObject, Values
from ..actions import ACCOUNT_CREATE, IDENTITY_REQUESTED
from ..caller import Caller
from ..errors import NoAccountCreated, SignInRefused, SignUpClosed, SignUpNeeded, UnknownSignIn
from ..proof_names import PROVIDER
from ..sign_in.options import SignInOptions, sign_in_by
from ..sign_in.policy import Challenge, SignInPolicy, SignInResult, stale_proof_error
from ..sign_up_policy import BY_PROVIDER, SignUpPolicy
from .email_codes import EmailCodes
from .grants import ProviderGrants
from .linking import AccountLinking, ProviderUser
from .models import Identity
from .pending import SIGN_IN, PendingSignIn, PendingSignIns, link_purpose
from .provider import Provider
from .provider_sessions import ProviderSessions, reference_of
from .users import IdpUserInfo, readable_email, usable_email

log = logging.getLogger(__name__)

# Loads `auth_data` of the callback with the application's schema.
AuthDataLoader = Callable[[JsonObject | None], object]


class Browser(NamedTuple):
    """The browser of a sign-in."""

    # The sign-ins that it has begun.
    pending: PendingSignIns
    # Where a provider sends its form, which redirects to the client.
    return_uri: str


class Callback(NamedTuple):
    """What the client sends after the provider has redirected the browser."""

    code: str
    redirect_uri: str
    state: str | None
    auth_data: object
    # The issuer of the response (RFC 9207), if the provider sends it.
    iss: str | None = None
    # `auth_data` before the schema `idp_payload` has loaded it.
    sent_auth_data: JsonObject | None = None


@dataclass(eq=False)
class IdpSignIn(BasicService):
    policy: SignInPolicy
    # With the providers, the identities and the accounts.
    linking: AccountLinking
    sign_up_policy: SignUpPolicy
    email_codes: EmailCodes
    # None in an application without stored sessions.
    sessions: ProviderSessions | None
    grants: ProviderGrants

    def begin(self, name: str, redirect_uri: str, browser: Browser, purpose: str) -> str:
        """Return the provider's page for the browser."""
        providers = self.linking.providers
        sent_uri = _sent_uri(providers.find(name), redirect_uri, browser)
        url, pending = providers.client(name).begin(sent_uri)
        browser.pending.add(
            pending._replace(redirect_uri=redirect_uri, provider=name, purpose=purpose)
        )
        return url

    @sign_in_by(PROVIDER)
    def finish(
        self, name: str, callback: Callback, browser: Browser, options: SignInOptions
    ) -> SignInResult | Challenge:
        """Sign in the user for whom the provider issued the callback's code."""
        provider = self.linking.providers.find(name)
        claims = self._claims(provider, callback, browser, SIGN_IN)
        outcome = self._admit(provider, claims, options)
        if outcome is None:
            email = usable_email(provider, claims)
            user = IdpUserInfo(email, callback.auth_data, claims["sub"], claims, claims["iss"])
            if not provider.is_email_verified(claims):
                stored = user._replace(auth_payload=callback.sent_auth_data)
                raise self.email_codes.request(name, email, stored, options.ip_address)
            outcome = self._sign_up(provider, user, options)
        return outcome

    @sign_in_by(PROVIDER)
    def verify(
        self, name: str, login_id: str, code: str, load: AuthDataLoader, options: SignInOptions
    ) -> SignInResult | Challenge:
        """Continue the sign-in of a new user who has the code from the email."""
        provider = self.linking.providers.find(name)
        user = IdpUserInfo(*self.email_codes.use(name, login_id, code))
        outcome = self._admit(provider, user.claims, options)
        if outcome is None:
            user = user._replace(auth_payload=load(user.auth_payload))
            outcome = self._sign_up(provider, user, options)
        return outcome

    def _sign_up(
        self, provider: Provider, user: IdpUserInfo, options: SignInOptions
    ) -> SignInResult | Challenge:
        self._link_or_create(provider, user)
        outcome = self._admit(provider, user.claims, options)
        if outcome is None:
            raise NoAccountCreated
        return outcome

    def finish_link(
        self, caller: Caller, name: str, callback: Callback, browser: Browser
    ) -> Identity:
        """Link the caller's account to the user for whom the provider issued the callback's code.

        The provider need not have verified the user's email address: the owner is signed in.
        """
        provider, purpose = self.linking.providers.find(name), link_purpose(caller.account.id)
        claims = self._claims(provider, callback, browser, purpose)
        user = ProviderUser(name, claims["iss"], claims["sub"], readable_email(claims))
        return self.linking.link_caller(caller, user)

    def _claims(
        self, provider: Provider, callback: Callback, browser: Browser, purpose: str
    ) -> Values:
        pending = _take(provider, callback, browser.pending, purpose)
        sent_uri = _sent_uri(provider, callback.redirect_uri, browser)
        client = self.linking.providers.client(provider.name)
        claims, id_token = client.claims(callback.code, sent_uri, pending)
        if self.sessions is not None and id_token:
            self.sessions.remember(claims, id_token)
        return claims

    def _admit(
        self, provider: Provider, claims: Values, options: SignInOptions
    ) -> SignInResult | Challenge | None:
        issuer, subject = claims["iss"], claims["sub"]
        # Before a hook of the application gets the claims.
        reference = reference_of(claims) if self.sessions is not None else ""
        with transaction(self.session):
            account = self.linking.identities.owner(issuer, subject)
            if account is None:
                return None
            self._apply_claims(provider, account, claims)
            outcome = self.policy.admit(account, (PROVIDER,), options, reference=reference)
            self.linking.identities.record_use(issuer, subject)
            return outcome

    def _apply_claims(self, provider: Provider, account: AccountLike, claims: Values) -> None:
        """Change the account before the stages, which then read its new role."""
        if not (provider.groups_claim or self.hooks.registered("provider_claims")):
            return
        self.policy.lock(account, (PROVIDER,))
        # A concurrent request may have unlinked the identity.
        identity = self.linking.identities.find(claims["iss"], claims["sub"])
        if identity is None or identity.account_id != account.id:
            raise stale_proof_error((PROVIDER,), account.id)
        if provider.groups_claim:
            self.grants.apply(provider, account, identity.id, claims)
        self.hooks.provider_claims(account, provider.name, claims, self.session)

    def _link_or_create(self, provider: Provider, user: IdpUserInfo) -> None:
        """Link the user to the account with the email address, or to a new account."""
        candidate = ProviderUser(provider.name, user.issuer, user.subject, user.email)
        if self.linking.link(candidate):
            return
        if not self.sign_up_policy.allows(user.email, BY_PROVIDER):
            raise SignUpClosed
        try:
            self._create(provider, user)
        except MissingValue as problem:
            raise SignUpNeeded(problem) from problem
        except (Conflict, IntegrityError):
            # A concurrent callback of the same user has created the account.
            if not self.linking.link(candidate):
                raise

    def _create(self, provider: Provider, user: IdpUserInfo) -> None:
        """Create an account in a separate transaction: it must stay if it awaits approval."""
        with transaction(self.session) as session:
            listeners = report_action(session, IDENTITY_REQUESTED, user)
            self.linking.accounts.flush()
            account = self.linking.accounts.find(user.email)
            if account is None:
                log.error(
                    "A sign-up through the identity provider failed: %s. Register one with"
                    " frontdesk.on('%s'); it must add an account with the given email address.",
                    "its listener created no account" if listeners else "there is no listener",
                    ACCOUNT_CREATE.name,
                )
                raise NoAccountCreated
            self.linking.identities.link(account, provider, user.issuer, user.subject, user.email)


def _sent_uri(provider: Provider, redirect_uri: str, browser: Browser) -> str:
    return browser.return_uri if provider.posts_form else redirect_uri


def _take(
    provider: Provider, callback: Callback, pending_sign_ins: PendingSignIns, purpose: str
) -> PendingSignIn | None:
    """Return the sign-in that this browser began at this provider: a code of another browser may be
    an attacker's, and so may a code of another provider."""
    if callback.state is None and not provider.is_default:
        raise UnknownSignIn
    has_pending = bool(pending_sign_ins)
    pending = pending_sign_ins.take(callback.redirect_uri, callback.state, provider.name, purpose)
    if pending is None and (provider.needs_session or has_pending or purpose != SIGN_IN):
        raise UnknownSignIn
    if callback.iss is not None and not provider.is_issuer(callback.iss):
        log.warning(
            "A response was rejected: iss is %.300r, expected %r", callback.iss, provider.issuer
        )
        raise SignInRefused
    return pending
