"""Emails to owners about their second factors."""

from dataclasses import dataclass
from typing import Any

from ...core.db.transaction import AnySession, after_commit
from ...core.translations import mark
from ...delivery.mail.one_off import OwnerMail
from ...delivery.mail.templates import Templates
from ...delivery.message import Email
from .models import PASSKEY_KIND


@dataclass(eq=False)
class FactorNotices:
    """Sends each email after the commit of the open transaction, except `factor_guessed`."""

    session: AnySession
    templates: Templates
    owner_mail: OwnerMail

    def authenticator_added(self, email_to: str, name: str, kind: str) -> None:
        template, what = "factor_added", mark("two-factor authentication was set up")
        if kind == PASSKEY_KIND:
            template, what = "passkey_added", mark("a passkey was added")
        self._send(self._email(template, email_to, what, authenticator=name))

    def authenticator_removed(self, email_to: str, name: str, kind: str) -> None:
        template, what = "factor_removed", mark("a two-factor method was removed")
        if kind == PASSKEY_KIND:
            template, what = "passkey_removed", mark("a passkey was removed")
        self._send(self._email(template, email_to, what, authenticator=name))

    def authenticators_reset(self, email_to: str) -> None:
        self._send(
            self._email("factors_reset", email_to, mark("two-factor authentication was reset"))
        )

    def passkey_suspected(self, email_to: str, name: str) -> None:
        what = mark("a passkey was rejected")
        self._send(self._email("passkey_suspected", email_to, what, authenticator=name))

    def recovery_codes_created(self, email_to: str) -> None:
        self._send(
            self._email("recovery_codes_made", email_to, mark("new recovery codes were created"))
        )

    def recovery_code_used(self, email_to: str, left: int) -> None:
        what = mark("a recovery code was used")
        self._send(self._email("recovery_code_used", email_to, what, codes_left=left))

    def device_trusted(self, email_to: str, days: int) -> None:
        self._send(self._email("device_trusted", email_to, mark("a device was trusted"), days=days))

    def factor_guessed(self, email_to: str) -> None:
        """Send at once: the rejected sign-in rolls its transaction back."""
        what = mark("someone may know your password")
        if not self.templates.has_passwords:
            what = mark("someone tried to sign in to your account")
        self.owner_mail.notify(self._email("factor_guessed", email_to, what))

    def _send(self, email: Email) -> None:
        after_commit(self.session, lambda: self.owner_mail.notify(email))

    def _email(self, template: str, email_to: str, what: str, **context: Any) -> Email:
        return self.templates.to_account(template, email_to, what, **context)
