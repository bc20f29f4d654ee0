"""Links users of identity providers to accounts: at a sign-in with the same verified email address,
or because the signed-in owner has confirmed or begun the link. Owners remove links again."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from hashlib import sha256
from typing import Any, NamedTuple

from ...accounts.models import DELETING, PENDING, AccountLike
from ...accounts.service import Accounts
from ...core.context import BasicService
from ...core.db.account_ids import IdKind
from ...core.db.transaction import after_commit, transaction
from ..caller import Caller, lock_caller
from ..errors import (
    AccountDeleting,
    IdentityTaken,
    InactiveAccount,
    InvalidProof,
    LinkConfirmationRequired,
    LinkedToAnother,
    LinkRefused,
)
from ..proofs import Proofs, ProofSubject, Purpose, account_subject
from .identities import Identities
from .models import Identity
from .provider import LinkingMode
from .providers import Providers


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
    """Return what happens at the sign-in of an unknown user with a verified email address.

    Others do not come here: an identity that is linked to an account signs that account in, and an
    email address that the provider does not call verified is rejected before its owner is read.
    """
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


LINK = Purpose("identity-link", token_life=timedelta(minutes=10))
_IDENTITY = "identity"
_REJECTIONS = {
    Linking.REJECT: LinkRefused,
    Linking.REJECT_DELETING: AccountDeleting,
    Linking.REJECT_INACTIVE: InactiveAccount,
    Linking.REJECT_ANOTHER: LinkedToAnother,
}


class ProviderUser(NamedTuple):
    """A user of a provider, with a verified email address."""

    # The provider's name in the settings.
    provider: str
    issuer: str
    subject: str
    email: str


# An account, and the user whom a proof links to the account.
Candidate = tuple[AccountLike, ProviderUser]


@dataclass(eq=False)
class AccountLinking(BasicService):
    providers: Providers
    accounts: Accounts
    identities: Identities
    proofs: Proofs
    ids: IdKind
    mode: LinkingMode
    # Called with the email address and the issuer of a new identity.
    notify_linked: Callable[[str, str], object]

    def link(self, user: ProviderUser) -> bool:
        """Link the account with the email address; return False without one.

        Raise what the table says if the account cannot be linked.
        """
        with transaction(self.session):
            found = self.accounts.find(user.email)
            # Read again: a concurrent request may have reclaimed or linked the account.
            account = self.accounts.lock(found.id) if found is not None else None
            state = self._state(account, user) if account is not None else None
            outcome = decide(state, self.mode)
            if account is None or outcome is Linking.SIGN_UP:
                return False
            if rejection := _REJECTIONS.get(outcome):
                raise rejection(note={"account_id": account.id})
            if outcome is Linking.CONFIRM:
                token = self.proofs.token(LINK, _subject(account, user))
                raise LinkConfirmationRequired(
                    members={"link_token": token}, note={"account_id": account.id}
                )
            if outcome is Linking.RECLAIM:
                self.accounts.reclaim(account)
            if outcome is not Linking.SIGN_IN:
                self._add(account, user)
            return True

    def confirm(self, caller: Caller, token: str) -> Identity:
        """Link the caller's account to the user of a token, once; raise InvalidProof."""
        with transaction(self.session):
            owner, user = self.proofs.by_token(LINK, _IDENTITY, token, self._find)
        if owner.id != caller.account.id:
            raise InvalidProof
        used = f"proof-used:{sha256(token.encode()).hexdigest()}"
        if not self.proofs.keystore.add(used, "used", int(LINK.token_life.total_seconds())):
            raise InvalidProof
        with transaction(self.session):
            identity = self._add(lock_caller(self.accounts, caller), user)
            if identity is None:
                raise InvalidProof
            return identity

    def link_caller(self, caller: Caller, user: ProviderUser) -> Identity:
        """Link the caller's account to a user who has signed in at the provider for it. Raise
        IdentityTaken or LinkedToAnother.

        A link that exists is returned.
        """
        with transaction(self.session):
            account = lock_caller(self.accounts, caller)
            self._add(account, user)
            identity = self.identities.find(user.issuer, user.subject)
            if identity is None or identity.account_id != account.id:
                raise IdentityTaken(note={"account_id": account.id})
            return identity

    def unlink(self, caller: Caller, identity_id: int) -> Identity:
        """Delete and return a link of the caller's account."""
        with transaction(self.session):
            return self.identities.unlink_one(lock_caller(self.accounts, caller), identity_id)

    def _state(self, account: AccountLike, user: ProviderUser) -> AccountState:
        provider = self.providers.find(user.provider)
        linked = self.identities.of_provider(account, provider, user.issuer)
        is_linked = any((each.issuer, each.subject) == user[1:3] for each in linked)
        return AccountState(
            account.status,
            self.accounts.is_active(account),
            self.accounts.is_email_verified(account),
            is_linked,
            bool(linked) and not is_linked,
        )

    def _add(self, account: AccountLike, user: ProviderUser) -> Identity | None:
        provider = self.providers.find(user.provider)
        identity = self.identities.link(account, provider, *user[1:])
        if identity is not None:
            email_to = account.email
            after_commit(self.session, lambda: self.notify_linked(email_to, user.issuer))
        return identity

    def _find(self, subject_id: Any) -> ProofSubject[Candidate] | None:
        account_id, *values = subject_id
        user = ProviderUser(*values)
        account = self.accounts.by_id(self.ids.from_text(account_id))
        if account is None or self.identities.owner(user.issuer, user.subject) is not None:
            return None
        return _subject(account, user)


def _subject(account: AccountLike, user: ProviderUser) -> ProofSubject[Candidate]:
    _, account_id, state, _ = account_subject(account)
    return ProofSubject(_IDENTITY, [account_id, *user], state, (account, user))
