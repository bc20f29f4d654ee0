"""The mails of this slice, each a function that returns a value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..auth.settings import AuthSettings
from ..core.config.settings import CoreSettings
from ..delivery.mail.templates import Templates
from ..delivery.message import Email


@dataclass(eq=False)
class DeletionMails:
    core: CoreSettings
    auth: AuthSettings
    templates: Templates

    def asked(self, email_to: str, token: str, deletes_at: datetime) -> Email:
        return self.templates.to_account(
            self.core,
            "deletion_requested",
            email_to,
            f"{self.core.PROJECT_NAME}: your account will be deleted",
            link=f"{self.core.page_url(self.auth.ACCOUNT_RESTORE_PATH)}?token={token}",
            token=token,
            deletes_on=f"{deletes_at:%Y-%m-%d}",
        )

    def deleted(self, email_to: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: your account was deleted"
        return self.templates.to_account(self.core, "account_deleted", email_to, subject)
