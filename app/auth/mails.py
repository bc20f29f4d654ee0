"""The emails of authentication; each function returns an email."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from ..core.translations import mark
from ..delivery.mail.templates import Templates
from ..delivery.message import Email
from .proofs import IssuedProof
from .settings import AuthSettings


@dataclass(eq=False)
class Mails:
    auth: AuthSettings
    templates: Templates

    def recovery(self, email_to: str, token: str, code: str) -> Email:
        issued = IssuedProof(token, code)
        return self._to_reset("reset_password", email_to, mark("reset your password"), issued)

    def account_made(self, email_to: str, issued: IssuedProof) -> Email:
        return self._to_reset(
            "account_made", email_to, mark("an account was created for you"), issued
        )

    def no_account(self, email_to: str) -> Email:
        return self.templates.to_account(
            "no_account", email_to, mark("no account with this address")
        )

    def confirm_email(self, email_to: str, issued: IssuedProof, locale: str | None) -> Email:
        return self.templates.to_account(
            "confirm_email",
            email_to,
            mark("confirm your new email address"),
            path=self.auth.EMAIL_CHANGE_PATH,
            locale=locale,
            token=issued.token,
            code=issued.code,
            code_minutes=self.auth.EMAIL_CODE_EXPIRE_MINUTES,
            token_hours=self.auth.EMAIL_TOKEN_EXPIRE_HOURS,
        )

    def email_in_use(self, email_to: str) -> Email:
        topic = mark("this address already has an account")
        return self.templates.to_account("email_in_use", email_to, topic)

    def email_change(
        self, email_to: str, new_email: str, token: str, is_made: bool, locale: str | None
    ) -> Email:
        """Return the email to the old address, for a requested or a completed change."""
        name, topic = "email_change_requested", mark("change of your email address requested")
        if is_made:
            name, topic = "email_changed", mark("your email address was changed")
        return self.templates.to_account(
            name,
            email_to,
            topic,
            path=self.auth.EMAIL_UNDO_PATH,
            locale=locale,
            token=token,
            new_email=new_email,
            undo_hours=self.auth.EMAIL_UNDO_HOURS,
        )

    def password_changed(self, email_to: str) -> Email:
        topic, path = mark("your password was changed"), self.auth.PASSWORD_RECOVERY_PATH
        return self.templates.to_account("password_changed", email_to, topic, path=path)

    def identity_linked(self, email_to: str, issuer: str) -> Email:
        topic, provider = mark("new sign-in method added"), urlsplit(issuer).hostname or issuer
        return self.templates.to_account("identity_linked", email_to, topic, provider=provider)

    def _to_reset(self, template: str, email_to: str, topic: str, issued: IssuedProof) -> Email:
        return self.templates.to_account(
            template,
            email_to,
            topic,
            path=self.auth.PASSWORD_RESET_PATH,
            token=issued.token,
            code=issued.code,
            code_minutes=self.auth.RESET_CODE_EXPIRE_MINUTES,
            token_hours=self.auth.EMAIL_RESET_TOKEN_EXPIRE_HOURS,
        )
