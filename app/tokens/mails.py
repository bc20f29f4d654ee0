"""The emails about personal tokens."""

from dataclasses import dataclass
from datetime import datetime

from ..core.translations import mark
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.message import Email


@dataclass(eq=False)
class TokenMails:
    templates: Templates
    owner_mail: OwnerMail

    def created(self, email_to: str, name: str, expires_at: datetime) -> Email:
        topic = mark("a personal token was created")
        return self._email("personal_token_created", email_to, topic, name, expires_at)

    def expires(self, email_to: str, name: str, expires_at: datetime) -> Email:
        topic = mark("a personal token expires soon")
        return self._email("personal_token_expires", email_to, topic, name, expires_at)

    def _email(
        self, template: str, email_to: str, topic: str, name: str, expires_at: datetime
    ) -> Email:
        day = expires_at.date()
        return self.templates.to_account(template, email_to, topic, token_name=name, expires_on=day)
