"""The mails of this room, each a function that returns a value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ...core.config.settings import CoreSettings
from ...delivery.mail.templates import Templates
from ...delivery.message import Email

# A device that says nothing of itself.
UNKNOWN = "a device that we do not know"


@dataclass(eq=False)
class SessionMails:
    core: CoreSettings
    templates: Templates

    def signed_out(self, email_to: str, label: str | None, since: datetime) -> Email:
        return self.templates.to_account(
            self.core,
            "signed_out",
            email_to,
            f"{self.core.PROJECT_NAME}: we signed you out on one device",
            device=label or UNKNOWN,
            signed_in_on=f"{since:%Y-%m-%d}",
        )
