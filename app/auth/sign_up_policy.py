"""The sign-up policy: whether an email address may get an account, by each sign-up method."""

from dataclasses import dataclass

from ..core.db.transaction import AnySession
from ..core.errors import Problem
from ..core.hooks import Hooks
from .settings import AuthSettings

# Sign-up methods: a user creates an account without an operator.
BY_REGISTRATION = "registration"
BY_INVITATION = "invitation"
BY_PROVIDER = "provider"
BY_CODE = "code"
# The method by which a signed-in user gets a new email address.
BY_EMAIL_CHANGE = "email-change"


@dataclass(eq=False)
class SignUpPolicy:
    session: AnySession
    hooks: Hooks
    settings: AuthSettings

    def allows(self, email: str, method: str) -> bool:
        """Return whether the email address may get an account; raise the problem that the
        application's hook returns."""
        if not self._allows_mode(email, method):
            return False
        decision: bool | Problem = self.hooks.may_register(email, method, self.session)
        if isinstance(decision, Problem):
            raise decision
        return decision

    def _allows_mode(self, email: str, method: str) -> bool:
        mode = self.settings.REGISTRATION
        if method == BY_INVITATION:
            # An invitation is valid for an address of any domain.
            return mode != "closed"
        if method == BY_PROVIDER and not self.settings.ALLOW_IDP_OAUTH_SIGNUP:
            return False
        if mode == "domains":
            domains = [domain.lower().lstrip("@") for domain in self.settings.REGISTRATION_DOMAINS]
            return email.rpartition("@")[2] in domains
        return method in (BY_PROVIDER, BY_EMAIL_CHANGE) or mode == "open"
