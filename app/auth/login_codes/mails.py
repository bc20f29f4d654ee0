"""The mails of this room, each a function that returns a value."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.config.settings import CoreSettings
from ...core.origin import current_origin
from ...delivery.mail.templates import Templates
from ...delivery.message import Email
from ..sessions.devices import label_of
from ..settings import AuthSettings

# What is said of a program that is no browser: its own name for itself, which anybody chooses,
# must not come to stand in a mail of ours.
UNKNOWN = "a device that we do not know"
_BROWSERS_BEGIN = "Mozilla/"


@dataclass(eq=False)
class LoginCodeMails:
    core: CoreSettings
    auth: AuthSettings
    templates: Templates

    def code(self, email_to: str, code: str) -> Email:
        return self.templates.to_account(
            self.core,
            "login_code",
            email_to,
            f"{self.core.PROJECT_NAME}: your code to sign in",
            code=code,
            code_minutes=self.auth.LOGIN_CODE_EXPIRE_MINUTES,
            **asking(),
        )

    def no_account(self, email_to: str) -> Email:
        return self.templates.to_account(
            self.core,
            "login_no_account",
            email_to,
            f"{self.core.PROJECT_NAME}: no account with this address",
            **asking(),
        )


def asking() -> dict[str, str]:
    """Who asks, in words that are ours."""
    origin = current_origin()
    agent = origin.user_agent or ""
    label = label_of(agent) if agent.startswith(_BROWSERS_BEGIN) else None
    return {"device": label or UNKNOWN, "address": origin.address or "an unknown address"}
