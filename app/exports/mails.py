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
        return self.templates.email(
            email_to,
            f"{self.core.PROJECT_NAME}: a copy of your data was asked for",
            "export_requested",
            username=email_to,
            project=self.core.PROJECT_NAME,
            client_host=self.core.CLIENT_HOST,
        )
