"""The mail of this slice."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config.settings import CoreSettings
from ..delivery.mail.templates import Templates
from ..delivery.message import Email


@dataclass(eq=False)
class ExportMails:
    core: CoreSettings
    templates: Templates

    def asked(self, email_to: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: a copy of your data was asked for"
        return self.templates.to_account(self.core, "export_requested", email_to, subject)
