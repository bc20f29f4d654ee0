"""How admins change the email address and the linked identities of an account."""

from dataclasses import dataclass

from ..accounts.models import AccountLike
from ..auth.email_change.service import EmailChanges
from ..auth.idp.identities import Identities
from ..core.db.transaction import AnySession, transaction
from ..core.types import AccountKey
from .service import Administration


@dataclass(eq=False)
class CredentialAdministration:
    session: AnySession
    administration: Administration
    email_changes: EmailChanges
    identities: Identities

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
        """Delete the link to one user of an identity provider, and return its label. Raise
        OnlySignInMethod if the owner could not sign in afterwards."""
        with transaction(self.session):
            account = self.administration.lock_other(actor, account_id)
            return self.identities.unlink_one(account, identity_id).label
