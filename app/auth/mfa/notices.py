"""Emails to owners about their second factors."""

from __future__ import annotations

from dataclasses import dataclass

from ...accounts.models import AccountLike
from ...core.config.settings import CoreSettings
from ...core.db.transaction import AnySession, after_commit
from ...delivery.mail.one_off import OneOffMail
from ...delivery.mail.templates import Templates
from ...delivery.message import Email
from .models import PASSKEY_KIND


@dataclass(eq=False)
class FactorNotices:
    session: AnySession
    mails: FactorMails
    lane: OneOffMail

    def tell(self, email: Email) -> None:
        """Send after the commit of the open transaction."""
        after_commit(self.session, lambda: self.lane.send_soon(email))

    def guessed(self, account: AccountLike) -> None:
        """Email at once that another person may know the password: the rejection rolls back."""
        self.lane.send_soon(self.mails.guessed(account.email))


@dataclass(eq=False)
class FactorMails:
    """The emails about second factors."""

    core: CoreSettings
    templates: Templates

    def added(self, email_to: str, authenticator: str, kind: str) -> Email:
        if kind == PASSKEY_KIND:
            return self._about_one("passkey_added", email_to, "a passkey was added", authenticator)
        what = "a second factor was set up"
        return self._about_one("factor_added", email_to, what, authenticator)

    def removed(self, email_to: str, authenticator: str, kind: str) -> Email:
        if kind == PASSKEY_KIND:
            what = "a passkey was removed"
            return self._about_one("passkey_removed", email_to, what, authenticator)
        what = "a second factor was removed"
        return self._about_one("factor_removed", email_to, what, authenticator)

    def suspected(self, email_to: str, authenticator: str) -> Email:
        what = "a passkey was refused"
        return self._about_one("passkey_suspected", email_to, what, authenticator)

    def reset(self, email_to: str) -> Email:
        return self._about("factors_reset", email_to, "your second factors were removed")

    def recovery_codes_made(self, email_to: str) -> Email:
        return self._about("recovery_codes_made", email_to, "new recovery codes")

    def recovery_code_used(self, email_to: str, left: int) -> Email:
        what = "a recovery code was used"
        return self._about("recovery_code_used", email_to, what, codes_left=left)

    def device_trusted(self, email_to: str, days: int) -> Email:
        return self._about("device_trusted", email_to, "a device is trusted now", days=days)

    def guessed(self, email_to: str) -> Email:
        what = "another person may know your password"
        return self._about("factor_guessed", email_to, what)

    def _about_one(self, template: str, email_to: str, what: str, authenticator: str) -> Email:
        return self._about(template, email_to, what, authenticator=authenticator)

    def _about(self, template: str, email_to: str, what: str, **more: object) -> Email:
        subject = f"{self.core.PROJECT_NAME}: {what}"
        return self.templates.to_account(self.core, template, email_to, subject, **more)
