"""The mails of this slice, each a function that returns a value."""

from __future__ import annotations

from typing import Any

from flask import render_template

from ..core.settings import AuthSettings, CoreSettings
from ..delivery.message import Email


class Mails:
    def __init__(self, core: CoreSettings, auth: AuthSettings) -> None:
        self.core = core
        self.auth = auth

    def recovery(self, email_to: str, token: str, code: str) -> Email:
        return self._render(
            "reset_password",
            email_to,
            f"{self.core.PROJECT_NAME}: reset your password",
            link=f"{self.core.CLIENT_HOST}{self.auth.PASSWORD_RESET_PATH}?token={token}",
            token=token,
            code=code,
            code_minutes=self.auth.RESET_CODE_EXPIRE_MINUTES,
            token_hours=self.auth.EMAIL_RESET_TOKEN_EXPIRE_HOURS,
        )

    def password_changed(self, email_to: str) -> Email:
        subject = f"{self.core.PROJECT_NAME}: your password was changed"
        return self._render("password_changed", email_to, subject)

    def _render(self, template: str, email_to: str, subject: str, **context: Any) -> Email:
        context |= {
            "username": email_to,
            "project": self.core.PROJECT_NAME,
            "client_host": self.core.CLIENT_HOST,
        }
        text = render_template(f"{template}.txt", **context)
        return Email(email_to, subject, text, render_template(f"{template}.html", **context))
