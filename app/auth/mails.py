"""The emails of authentication; each function returns an email."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from ..core.config.settings import CoreSettings
from ..delivery.mail.templates import Templates
from ..delivery.message import Email
from .proofs import IssuedProof
from .settings import AuthSettings


@dataclass(eq=False)
class Mails:
    core: CoreSettings
    auth: AuthSettings
    templates: Templates

    def recovery(self, email_to: str, token: str, code: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: reset your password"
        return self._to_reset("reset_password", email_to, subject, IssuedProof(token, code))

    def account_made(self, email_to: str, issued: IssuedProof) -> Email:
        subject = f"{self.core.PROJECT_NAME}: an account was created for you"
        return self._to_reset("account_made", email_to, subject, issued)

    def no_account(self, email_to: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: no account with this address"
        return self.templates.to_account(self.core, "no_account", email_to, subject)

    def confirm_email(self, email_to: str, issued: IssuedProof) -> Email:
        return self.templates.to_account(
            self.core,
            "confirm_email",
            email_to,
            f"{self.core.PROJECT_NAME}: confirm your new email address",
            link=f"{self.core.page_url(self.auth.EMAIL_CHANGE_PATH)}?token={issued.token}",
            token=issued.token,
            code=issued.code,
            code_minutes=self.auth.EMAIL_CODE_EXPIRE_MINUTES,
            token_hours=self.auth.EMAIL_TOKEN_EXPIRE_HOURS,
        )

    def email_in_use(self, email_to: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: this address already has an account"
        return self.templates.to_account(self.core, "email_in_use", email_to, subject)

    def email_change(self, email_to: str, new_email: str, token: str, is_made: bool) -> Email:
        """Return the email to the old address, for a requested or a completed change."""
        requested = "change of your email address requested"
        what = "your email address was changed" if is_made else requested
        return self.templates.to_account(
            self.core,
            "email_changed" if is_made else "email_change_requested",
            email_to,
            f"{self.core.PROJECT_NAME}: {what}",
            new_email=new_email,
            link=f"{self.core.page_url(self.auth.EMAIL_UNDO_PATH)}?token={token}",
            token=token,
            undo_hours=self.auth.EMAIL_UNDO_HOURS,
        )

    def password_changed(self, email_to: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: your password was changed"
        return self.templates.to_account(self.core, "password_changed", email_to, subject)

    def identity_linked(self, email_to: str, issuer: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: new sign-in method added"
        provider = urlsplit(issuer).hostname or issuer
        return self.templates.to_account(
            self.core, "identity_linked", email_to, subject, provider=provider
        )

    def _to_reset(self, template: str, email_to: str, subject: str, issued: IssuedProof) -> Email:
        return self.templates.to_account(
            self.core,
            template,
            email_to,
            subject,
            link=f"{self.core.page_url(self.auth.PASSWORD_RESET_PATH)}?token={issued.token}",
            token=issued.token,
            code=issued.code,
            code_minutes=self.auth.RESET_CODE_EXPIRE_MINUTES,
            token_hours=self.auth.EMAIL_RESET_TOKEN_EXPIRE_HOURS,
        )
