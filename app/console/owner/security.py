"""The overview of an account's security."""

from collections.abc import Sequence
from typing import NamedTuple

from flask import Response

from ...accounts.service import Accounts
from ...auth.caller import Caller, caller
from ...auth.decorators import active_account_required
from ...auth.email_change.service import EmailChanges
from ...auth.idp.identities import Identities
from ...auth.mfa.authenticators import Authenticators
from ...auth.mfa.models import PASSKEY_KIND, TOTP_KIND, Authenticator
from ...auth.mfa.recovery_codes import RecoveryCodes
from ...auth.sessions.management import OwnSession, SessionManagement
from ...auth.settings import AuthSettings
from ...core.context import current_frontdesk, find_context, service
from ...core.types import AccountKey
from ..pages import render_page
from ..providers import provider_title
from ..resources import ConsoleResources
from ..texts import device_name
from ..tokens import personal_tokens
from .security_checkup import FEW_CODES, Device, SecurityState, Step, next_step


@active_account_required
def security_page() -> Response:
    return render_page("owner/security/overview.html", overview=security_overview(caller()))


# The page counts no more sessions than this.
MAX_SESSIONS = 50


class SecurityOverview(NamedTuple):
    """An account's sign-in methods and sessions, with the next step."""

    is_verified: bool
    # The new email address that is not confirmed yet.
    new_email: str
    has_password: bool
    apps: Sequence[str]
    may_add_app: bool
    passkeys: Sequence[str]
    # None without a second factor.
    codes_left: int | None
    sessions: Sequence[OwnSession]
    # The providers of the linked identities.
    identities: Sequence[str]
    # Of valid personal tokens.
    tokens: int

    # None if nothing is to do.
    next_step: Step | None

    @property
    def has_few_codes(self) -> bool:
        return self.codes_left is not None and self.codes_left <= FEW_CODES

    @property
    def other_sessions(self) -> int:
        return sum(not each.current for each in self.sessions)

    @property
    def here(self) -> OwnSession | None:
        return next((each for each in self.sessions if each.current), None)


def security_overview(caller: Caller) -> SecurityOverview:
    account, features = caller.account, service(ConsoleResources).features
    authenticators: Sequence[Authenticator] = ()
    if features.second_factors:
        authenticators = service(Authenticators).list(account.id)
    apps = [each for each in authenticators if each.kind == TOTP_KIND]
    passkeys = [each for each in authenticators if each.kind == PASSKEY_KIND]
    sessions = service(SessionManagement).list(caller, account, 0, MAX_SESSIONS)
    state = SecurityState(
        is_verified=service(Accounts).is_email_verified(account),
        has_factor=bool(authenticators),
        needs_factor=features.factors and service(Authenticators).requirement.applies_to(account),
        codes_left=codes_left(account.id, authenticators),
        passkeys=[Device(each.name, each.created_at, each.last_used_at) for each in passkeys],
        other_sessions=[
            Device(device_name(each.label), each.created_at, each.used_at)
            for each in sessions
            if not each.current
        ],
    )
    return SecurityOverview(
        is_verified=state.is_verified,
        new_email=service(EmailChanges).waiting(account.id),
        has_password=account.password_hash is not None,
        apps=[each.name for each in apps],
        may_add_app=TOTP_KIND in current_frontdesk.settings.of(AuthSettings).MFA_METHODS,
        passkeys=[each.name for each in passkeys],
        codes_left=state.codes_left,
        sessions=sessions,
        identities=_providers(account.id) if features.provider else (),
        tokens=len(personal_tokens(account.id)),
        next_step=next_step(state, features, find_context().clock.now()),
    )


def _providers(account_id: AccountKey) -> list[str]:
    found = service(Identities).list(account_id)
    return [provider_title(each.provider) or each.provider for each in found]


def codes_left(account_id: AccountKey, authenticators: Sequence[Authenticator]) -> int | None:
    if not service(ConsoleResources).features.factors:
        return None
    kinds = service(Authenticators).requirement.kinds
    if not any(each.kind in kinds for each in authenticators):
        return None
    return service(RecoveryCodes).count_left(account_id)
