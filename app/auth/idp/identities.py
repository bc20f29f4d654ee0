from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import select, update

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.clock import Clock
from ...core.context import report_action
from ...core.db.pruning import delete_rows
from ...core.db.transaction import AnySession, execute_bulk, insert_new, lock_loaded, transaction
from ...core.errors import Conflict, NotFound
from ...core.types import AccountKey
from ..actions import IDENTITY_LINKED, IDENTITY_UNLINKED
from ..errors import LinkedToAnother
from .models import Identity
from .provider import Provider


class UnlinkEffect(NamedTuple):
    """Called before links of an account are deleted, in the same transaction."""

    # Takes the ids of the account and of its identities.
    run: Callable[[AccountKey, Collection[int]], object]


class IdentityNotFound(NotFound):
    code = "identity_not_found"
    detail = "Identity not found"
    title = "The identity does not exist"
    cause = "The account has no linked identity with this id."
    fix = "List the identities of the account with `GET /account/identities`."


class OnlySignInMethod(Conflict):
    """The identity is the account's only way to sign in."""

    code = "only_sign_in_method"
    detail = "The account has no other way to sign in"
    title = "The account has no other way to sign in"
    cause = (
        "The account has no password, no passkey and no other identity of a configured provider,"
        " and sign-in by emailed code is off."
    )
    fix = "The owner sets a password, adds a passkey or links another identity first."


@dataclass(eq=False)
class Identities:
    """Links between accounts and users of a provider, independent of their email addresses."""

    session: AnySession
    accounts: Accounts
    clock: Clock
    # Whether the provider of an identity is configured, so that the identity can sign in.
    is_usable: Callable[[Identity], bool]
    # Whether an account can sign in without a password and without an identity provider.
    has_other_method: Callable[[AccountKey], bool]
    unlink_effects: Sequence[UnlinkEffect] = ()

    def owner(self, issuer: str, subject: str) -> AccountLike | None:
        model = self.accounts.model
        found: AccountLike | None = self.session.scalar(
            select(model)
            .join(Identity, Identity.account_id == model.id)
            .where(Identity.issuer == issuer, Identity.subject == subject)
        )
        return found

    def find(self, issuer: str, subject: str) -> Identity | None:
        """Return the link as stored: a concurrent request may have deleted it."""
        user = select(Identity).where(Identity.issuer == issuer, Identity.subject == subject)
        return self.session.scalar(user.execution_options(populate_existing=True))

    def list(self, account_id: AccountKey) -> Sequence[Identity]:
        return self.session.scalars(
            select(Identity).where(Identity.account_id == account_id).order_by(Identity.id)
        ).all()

    def get(self, account_id: AccountKey, identity_id: int) -> Identity:
        """Return a link of the account; raise IdentityNotFound."""
        identity = self.session.get(Identity, identity_id)
        if identity is None or identity.account_id != account_id:
            raise IdentityNotFound
        return identity

    def of_provider(
        self, account: AccountLike, provider: Provider, issuer: str
    ) -> Sequence[Identity]:
        """Return the account's links to users of the provider, which has several issuers if it has
        several tenants."""
        return [
            each
            for each in self.list(account.id)
            if each.issuer == issuer or provider.is_issuer(each.issuer)
        ]

    def link(
        self, account: AccountLike, provider: Provider, issuer: str, subject: str, email: str
    ) -> Identity | None:
        """Link an account; return None if the user was linked before. Raise LinkedToAnother.

        The account is locked: of two users with one address at once, the second finds the link.
        """
        lock_loaded(self.session, account)
        linked = self.of_provider(account, provider, issuer)
        if any((each.issuer, each.subject) == (issuer, subject) for each in linked):
            return None
        if linked:
            raise LinkedToAnother(note={"account_id": account.id})
        now = self.clock.now()
        link = insert_new(
            self.session,
            Identity,
            account_id=account.id,
            provider=provider.name,
            issuer=issuer,
            subject=subject,
            email=email,
            linked_at=now,
            last_used_at=now,
        )
        if link is not None:
            report_action(self.session, IDENTITY_LINKED, account_id=account.id, issuer=issuer)
        return link

    def record_use(self, issuer: str, subject: str) -> None:
        identity = update(Identity).where(Identity.issuer == issuer, Identity.subject == subject)
        execute_bulk(self.session, identity.values(last_used_at=self.clock.now()))

    def unlink(self, account: AccountLike) -> int:
        """Delete the account's links; the next sign-in with its verified address creates a new
        one."""
        with transaction(self.session) as session:
            lock_loaded(session, account)
            self._run_effects(account.id, [each.id for each in self.list(account.id)])
            removed = delete_rows(session, Identity, Identity.account_id == account.id)
            if removed:
                report_action(session, IDENTITY_UNLINKED, account_id=account.id)
            return removed

    def unlink_one(self, account: AccountLike, identity_id: int) -> Identity:
        """Delete and return one link of a locked account, within the open transaction. Raise
        OnlySignInMethod if the owner could not sign in afterwards."""
        identity = self.get(account.id, identity_id)
        others = [each for each in self.list(account.id) if each is not identity]
        if not (
            any(map(self.is_usable, others))
            or self.accounts.has_usable_password(account)
            or self.has_other_method(account.id)
        ):
            raise OnlySignInMethod
        self._run_effects(account.id, [identity.id])
        self.session.delete(identity)
        report_action(
            self.session, IDENTITY_UNLINKED, account_id=account.id, issuer=identity.issuer
        )
        return identity

    def _run_effects(self, account_id: AccountKey, identity_ids: Collection[int]) -> None:
        for each in self.unlink_effects:
            each.run(account_id, identity_ids)
