"""How admins change the email address and the linked identities of an account."""

from collections.abc import Callable
from dataclasses import dataclass

from ..accounts.models import AccountLike
from ..auth.email_change.service import EmailChanges
from ..auth.idp.identities import Identities
from ..core.db.transaction import AnySession, transaction
from ..core.errors import Conflict
from ..core.types import AccountKey
from .service import Administration


class OnlySignInMethod(Conflict):
    """The identity is the account's only way to sign in."""

    code = "only_sign_in_method"
    detail = "The account has no other way to sign in"
    title = "The account has no other way to sign in"
    cause = "The account has no password, passkey or other linked identity."
    fix = "Ask the owner to set a password or add a passkey first."


@dataclass(eq=False)
class CredentialAdministration:
    session: AnySession
    administration: Administration
    email_changes: EmailChanges
    identities: Identities
    # Whether an account can sign in without a password and without an identity provider.
    has_other_method: Callable[[AccountKey], bool]

    def set_email(self, actor: AccountLike, account_id: AccountKey, email: str) -> None:
        """Set a verified email address at once, and revoke all tokens of the account."""
        with transaction(self.session):
            account = self.administration.lock_other(actor, account_id)
            self.email_changes.set_by_operator(account, email)

    def request_email(self, actor: AccountLike, account_id: AccountKey, email: str) -> None:
        """Send an email to the new address, with which the owner confirms the change."""
        with transaction(self.session):
            account = self.administration.lock_other(actor, account_id)
            self.email_changes.request_by_operator(account, email)

    def unlink(self, actor: AccountLike, account_id: AccountKey, identity_id: int) -> str:
        """Delete the link to one user of an identity provider, and return its email address. Raise
        OnlySignInMethod if the owner could not sign in afterwards."""
        with transaction(self.session):
            account = self.administration.lock_other(actor, account_id)
            identity = self.identities.get(account_id, identity_id)
            is_only = len(self.identities.list(account_id)) == 1
            accounts = self.administration.accounts
            if is_only and not (
                accounts.has_usable_password(account) or self.has_other_method(account_id)
            ):
                raise OnlySignInMethod
            email = identity.email
            self.identities.unlink_one(identity)
            return email
