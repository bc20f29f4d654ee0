"""Test helper: a user with a passkey authenticator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from app.testing.client import Answer, Api

from ..rigs.authenticator import SoftAuthenticator


@dataclass
class Holder:
    """A user who adds passkeys as `api` and signs in with them through an anonymous client."""

    api: Api
    authenticator: SoftAuthenticator = field(default_factory=SoftAuthenticator)

    def make(self, **forged: Any) -> dict[str, Any]:
        """Create a passkey with the authenticator, without sending it to the service."""
        options = self.api.post("/authenticators/passkey/options").json
        return self.authenticator.create(options, **forged)

    def add(self, name: str = "Laptop", status: int = 201, **forged: Any) -> Answer:
        body = {"name": name, "credential": self.make(**forged)}
        return self.api.post("/authenticators/passkey", status, json=body)

    def show(self, **forged: Any) -> dict[str, Any]:
        """Sign a new challenge with the newest passkey, without sending the assertion."""
        options = self.anonymous.post("/login/passkey/options").json
        return self.authenticator.get(options, **forged)

    def sign_in(self, status: int = 200, **forged: Any) -> Answer:
        return self.send(self.show(**forged), status)

    def send(self, credential: Any, status: int = 200) -> Answer:
        return self.anonymous.post("/login/passkey", status, json={"credential": credential})

    @property
    def anonymous(self) -> Api:
        return self.api.as_token(None)
