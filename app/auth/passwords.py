"""Change of an account's password."""

from dataclasses import dataclass

from ..accounts.models import AccountLike
from ..accounts.service import Accounts, lock_if_password_unchanged
from ..core.coded_messages import REQUIRED, UNCHANGED
from ..core.context import BasicService, report_action
from ..core.db.transaction import after_commit, release, transaction
from ..core.errors import Invalid
from ..delivery.mail.one_off import OwnerMail
from .actions import PASSWORD_CHANGED
from .caller import Caller
from .errors import IncorrectCredentials
from .mails import Mails
from .proof_names import PASSWORD
from .sign_in.options import SignInOptions
from .sign_in.policy import Challenge, SignInPolicy, SignInResult
from .step_up.service import Freshness


def set_password(
    accounts: Accounts, account_id: object, former: str | None, password_hash: str
) -> AccountLike | None:
    """Set the password and return the account; return None if the former hash has changed."""
    account = lock_if_password_unchanged(accounts, account_id, former)
    if account is not None:
        account.password_hash = password_hash
        accounts.end_tokens(account)
    return account


@dataclass(eq=False)
class PasswordChange(BasicService):
    accounts: Accounts
    policy: SignInPolicy
    mails: Mails
    owner_mail: OwnerMail
    freshness: Freshness

    def change(
        self, caller: Caller, current: str | None, new: str, options: SignInOptions
    ) -> SignInResult | Challenge:
        """Change the password and end all earlier tokens; the caller gets a new sign-in."""
        account = caller.account
        account_id, email, has_one = account.id, account.email, account.password_hash is not None
        if has_one and current is None:
            raise Invalid.about("current_password", REQUIRED)
        # The rate limits on wrong passwords apply.
        known = current if has_one else None
        # A simultaneous change may have stored another hash.
        former = self.freshness.check(caller, known, options.ip_address, protects=True)
        if new == current:
            raise Invalid.about("new_password", UNCHANGED)
        release(self.session)
        self.accounts.passwords.rules.check_new_password(new, email, "new_password")
        password_hash = self.accounts.passwords.hash(new)
        with transaction(self.session) as session:
            changed = set_password(self.accounts, account_id, former, password_hash)
            if changed is None:
                raise IncorrectCredentials
            report_action(session, PASSWORD_CHANGED, changed, account_id=account_id)
            notice = self.mails.password_changed(email)
            after_commit(session, lambda: self.owner_mail.notify(notice))
            return self.policy.admit(changed, (PASSWORD,), options, factor_at=caller.factor_at)
