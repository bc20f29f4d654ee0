"""The mails of this room, each a function that returns a value."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.config.settings import CoreSettings
from ...delivery.mail.templates import Templates
from ...delivery.message import Email


@dataclass(eq=False)
class PasskeyMails:
    core: CoreSettings
    templates: Templates

    def added(self, email_to: str, name: str) -> Email:
        return self._about("passkey_added", email_to, "a passkey was added", name)

    def suspected(self, email_to: str, name: str) -> Email:
        return self._about("passkey_suspected", email_to, "a passkey was refused", name)

    def _about(self, template: str, email_to: str, what: str, name: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: {what}"
        return self.templates.to_account(self.core, template, email_to, subject, passkey=name)
