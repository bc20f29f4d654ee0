"""Whether an address may become an account, and through which door: decided here alone."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.db.transaction import AnySession
from ..core.errors import Problem
from ..core.hooks import Hooks
from .settings import AuthSettings

# Sign-up methods: a user creates an account without an operator.
REGISTRATION_DOOR = "registration"
INVITATION_DOOR = "invitation"
PROVIDER_DOOR = "provider"
CODE_DOOR = "code"
# The method by which a signed-in user gets a new email address.
EMAIL_CHANGE_DOOR = "email-change"


@dataclass(eq=False)
class Admission:
    session: AnySession
    hooks: Hooks
    settings: AuthSettings

    def admits(self, email: str, door: str) -> bool:
        """Whether the address may get an account; raise a problem that the application returns."""
        if not self._is_open(email, door):
            return False
        answer: bool | Problem = self.hooks.may_register(email, door, self.session)
        if isinstance(answer, Problem):
            raise answer
        return answer

    def _is_open(self, email: str, door: str) -> bool:
        mode = self.settings.REGISTRATION
        if door == INVITATION_DOOR:
            # An invitation is valid for an address of any domain.
            return mode != "closed"
        if door == PROVIDER_DOOR and not self.settings.ALLOW_IDP_OAUTH_SIGNUP:
            return False
        if mode == "domains":
            domains = [domain.lower().lstrip("@") for domain in self.settings.REGISTRATION_DOMAINS]
            return email.rpartition("@")[2] in domains
        return door in (PROVIDER_DOOR, EMAIL_CHANGE_DOOR) or mode == "open"
