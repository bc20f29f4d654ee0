"""The table of account linking: what a sign-in does for a user of a provider.

The rows before those of `decide`: an identity that is linked to an account signs that account in,
and an email address that the provider does not call verified is rejected, so that its owner's
account is not read.
"""

from enum import Enum, auto
from typing import NamedTuple

from ...accounts.models import DELETING, PENDING
from .provider import LinkingMode


class AccountState(NamedTuple):
    """The account with the verified email address of the user."""

    status: str
    is_active: bool
    # Whether the account has verified the address too.
    is_verified: bool
    # Whether the account is linked to this user of the provider, by a concurrent request.
    is_linked: bool = False
    # Whether the account is linked to another user of the provider.
    is_linked_to_another: bool = False


class Linking(Enum):
    SIGN_UP = auto()
    SIGN_IN = auto()
    LINK = auto()
    # Remove what another person may have set up, then link.
    RECLAIM = auto()
    CONFIRM = auto()
    REJECT = auto()
    REJECT_DELETING = auto()
    REJECT_INACTIVE = auto()
    REJECT_ANOTHER = auto()


_BY_MODE = {"auto": Linking.LINK, "confirm": Linking.CONFIRM, "never": Linking.REJECT}


def decide(account: AccountState | None, mode: LinkingMode) -> Linking:
    """Return what happens at the sign-in of an unknown user with a verified email address."""
    if account is None:
        return Linking.SIGN_UP
    if account.is_linked:
        return Linking.SIGN_IN
    if account.status == DELETING:
        return Linking.REJECT_DELETING
    # A reclaimed account is not pending any more.
    if not account.is_active and (account.is_verified or account.status != PENDING):
        return Linking.REJECT_INACTIVE
    if not account.is_verified:
        return Linking.RECLAIM
    if account.is_linked_to_another:
        return Linking.REJECT_ANOTHER
    return _BY_MODE[mode]
