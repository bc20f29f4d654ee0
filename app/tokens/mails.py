"""The emails about personal tokens."""

from dataclasses import dataclass
from datetime import datetime

from ..core.translations import mark
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.message import Email

# The template and the topic of each email.
CREATED = "personal_token_created", mark("a personal token was created")
EXPIRES = "personal_token_expires", mark("a personal token expires soon")


@dataclass(eq=False)
class TokenMails:
    templates: Templates
    owner_mail: OwnerMail

    def write(self, kind: tuple[str, str], to: str, name: str, expires_at: datetime) -> Email:
        (template, topic), day = kind, expires_at.date()
        return self.templates.to_account(template, to, topic, token_name=name, expires_on=day)
