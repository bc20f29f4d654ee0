"""The overview of an account's security."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from flask import Response

from ...accounts.service import Accounts
from ...auth.caller import Caller, caller
from ...auth.decorators import active_account_required
from ...auth.email_change.service import EmailChanges
from ...auth.idp.identities import Identities
from ...auth.mfa.authenticators import Authenticators
from ...auth.mfa.models import PASSKEY_KIND, TOTP_KIND
from ...auth.mfa.recovery_codes import RecoveryCodes
from ...auth.sessions.management import OwnSession, SessionManagement
from ...core.context import service
from ...core.types import AccountKey
from ...core.web.operation import hidden
from ..pages import render_page
from ..resources import ConsoleResources


@active_account_required
@hidden
def security_page() -> Response:
    return render_page("owner/security/overview.html", overview=security_overview(caller()))


# The page counts no more sessions than this.
MAX_SESSIONS = 50
# With this number of recovery codes or fewer, the page advises to create new ones.
FEW_CODES = 3


class SecurityOverview(NamedTuple):
    """An account's sign-in methods and sessions, with advice."""

    is_verified: bool
    # The new email address that is not confirmed yet.
    new_email: str
    has_password: bool
    apps: Sequence[str]
    passkeys: Sequence[str]
    # Whether the account must have a second factor.
    needs_factor: bool
    # None without a second factor.
    codes_left: int | None
    sessions: Sequence[OwnSession]
    identities: Sequence[Any]

    @property
    def advice(self) -> list[str]:
        return list(_advice(self))

    @property
    def other_sessions(self) -> int:
        return sum(not each.current for each in self.sessions)

    @property
    def here(self) -> OwnSession | None:
        return next((each for each in self.sessions if each.current), None)


def security_overview(caller: Caller) -> SecurityOverview:
    account, features = caller.account, service(ConsoleResources).features
    authenticators: Sequence[Any] = ()
    if features.second_factors:
        authenticators = service(Authenticators).list(account.id)
    changes = service(EmailChanges)
    return SecurityOverview(
        is_verified=service(Accounts).is_email_verified(account),
        new_email=changes.waiting(account.id),
        has_password=account.password_hash is not None,
        apps=[each.name for each in authenticators if each.kind == TOTP_KIND],
        passkeys=[each.name for each in authenticators if each.kind == PASSKEY_KIND],
        needs_factor=features.factors and service(Authenticators).requirement.applies_to(account),
        codes_left=codes_left(account.id, authenticators),
        sessions=service(SessionManagement).list(caller, account, 0, MAX_SESSIONS),
        identities=service(Identities).list(account.id) if features.provider else (),
    )


def codes_left(account_id: AccountKey, authenticators: Sequence[Any]) -> int | None:
    if not service(ConsoleResources).features.factors:
        return None
    kinds = service(Authenticators).requirement.kinds
    if not any(each.kind in kinds for each in authenticators):
        return None
    return service(RecoveryCodes).count_left(account_id)


def _advice(overview: SecurityOverview) -> Iterator[str]:
    """Yield the advice, the most urgent first."""
    features = service(ConsoleResources).features
    if not overview.is_verified:
        yield "address"
    if features.second_factors and not (overview.apps or overview.passkeys):
        yield "passkey" if features.passkeys and not overview.needs_factor else "factor"
    if overview.codes_left is not None and overview.codes_left <= FEW_CODES:
        yield "codes"
