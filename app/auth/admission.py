"""Whether an address may become an account, and through which door: decided here alone."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.db.transaction import AnySession
from ..core.errors import Problem
from ..core.hooks import Hooks
from .settings import AuthSettings

# By which somebody comes to an account that nobody made for them.
REGISTRATION_DOOR = "registration"
INVITATION_DOOR = "invitation"
PROVIDER_DOOR = "provider"
CODE_DOOR = "code"
# By which somebody who is in comes to another address.
EMAIL_CHANGE_DOOR = "email-change"


@dataclass(eq=False)
class Admission:
    session: AnySession
    hooks: Hooks
    settings: AuthSettings

    def admits(self, email: str, door: str) -> bool:
        """A problem of the host's goes to the client as it is."""
        if not self._is_open(email, door):
            return False
        answer: bool | Problem = self.hooks.may_register(email, door, self.session)
        if isinstance(answer, Problem):
            raise answer
        return answer

    def _is_open(self, email: str, door: str) -> bool:
        mode = self.settings.REGISTRATION
        if door == INVITATION_DOOR:
            # Whoever invites vouches for the address, whatever its domain.
            return mode != "closed"
        if door == PROVIDER_DOOR and not self.settings.ALLOW_IDP_OAUTH_SIGNUP:
            return False
        if mode == "domains":
            domains = [domain.lower().lstrip("@") for domain in self.settings.REGISTRATION_DOMAINS]
            return email.rpartition("@")[2] in domains
        return door in (PROVIDER_DOOR, EMAIL_CHANGE_DOOR) or mode == "open"
