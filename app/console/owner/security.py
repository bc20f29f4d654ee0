"""What keeps an account its owner's, at a glance."""

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
from ..desk import Desk
from ..pages import page


@active_account_required
@hidden
def security_page() -> Response:
    return page("owner/security/overview.html", glance=glance_at(caller()))


# Of more it is said that there are more.
MOST_SESSIONS = 50
# So few recovery codes are too few.
FEW_CODES = 3


class Glance(NamedTuple):
    """What there is of an account's security, and what is missing."""

    is_proven: bool
    # The address that waits to be confirmed.
    waiting: str
    has_password: bool
    apps: Sequence[str]
    passkeys: Sequence[str]
    # Must have a second factor.
    needs_factor: bool
    # None where there is no factor that they could stand in for.
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


def glance_at(caller: Caller) -> Glance:
    account, on = caller.account, service(Desk).on
    found: Sequence[Any] = ()
    if on.second_factors:
        found = service(Authenticators).list(account.id)
    changes = service(EmailChanges)
    return Glance(
        is_proven=service(Accounts).is_email_verified(account),
        waiting=changes.waiting(account.id),
        has_password=account.password_hash is not None,
        apps=[each.name for each in found if each.kind == TOTP_KIND],
        passkeys=[each.name for each in found if each.kind == PASSKEY_KIND],
        needs_factor=on.factors and service(Authenticators).requirement.applies_to(account),
        codes_left=codes_left(account.id, found),
        sessions=service(SessionManagement).list(caller, account, 0, MOST_SESSIONS),
        identities=service(Identities).list(account.id) if on.provider else (),
    )


def codes_left(account_id: AccountKey, authenticators: Sequence[Any]) -> int | None:
    if not service(Desk).on.factors:
        return None
    kinds = service(Authenticators).requirement.kinds
    if not any(each.kind in kinds for each in authenticators):
        return None
    return service(RecoveryCodes).count_left(account_id)


def _advice(glance: Glance) -> Iterator[str]:
    """What is missing, the most urgent first."""
    on = service(Desk).on
    if not glance.is_proven:
        yield "address"
    if on.second_factors and not (glance.apps or glance.passkeys):
        yield "passkey" if on.passkeys and not glance.needs_factor else "factor"
    if glance.codes_left is not None and glance.codes_left <= FEW_CODES:
        yield "codes"
