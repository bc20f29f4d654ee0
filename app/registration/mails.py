"""The mails of this slice, each a function that returns a value."""

from __future__ import annotations

from dataclasses import dataclass

from ..auth.proofs import Issued
from ..auth.settings import AuthSettings
from ..core.config.settings import CoreSettings
from ..delivery.mail.templates import Templates
from ..delivery.message import Email


@dataclass(eq=False)
class RegistrationMails:
    core: CoreSettings
    auth: AuthSettings
    templates: Templates

    def verification(self, email_to: str, issued: Issued) -> Email:
        return self.templates.to_account(
            self.core,
            "verify_email",
            email_to,
            f"{self.core.PROJECT_NAME}: confirm your email address",
            link=f"{self.core.page_url(self.auth.VERIFICATION_PATH)}?token={issued.token}",
            token=issued.token,
            code=issued.code,
            code_minutes=self.auth.EMAIL_CODE_EXPIRE_MINUTES,
            token_hours=self.auth.EMAIL_TOKEN_EXPIRE_HOURS,
        )

    def already_registered(self, email_to: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: you already have an account"
        return self.templates.to_account(self.core, "already_registered", email_to, subject)

    def refused(self, email_to: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: your registration"
        return self.templates.to_account(self.core, "registration_refused", email_to, subject)
