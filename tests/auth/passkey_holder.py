"""Somebody with an authenticator, as the tests of passkeys have them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from app.testing.client import Answer, Api

from ..rigs.authenticator import SoftAuthenticator


@dataclass
class Holder:
    """`api` as whom a passkey is added; nobody is needed to sign in by one."""

    api: Api
    authenticator: SoftAuthenticator = field(default_factory=SoftAuthenticator)

    def make(self, **lies: Any) -> dict[str, Any]:
        """A new passkey, which is not yet sent."""
        options = self.api.post("/authenticators/passkey/options").json
        return self.authenticator.create(options, **lies)

    def add(self, name: str = "Laptop", status: int = 201, **lies: Any) -> Answer:
        body = {"name": name, "credential": self.make(**lies)}
        return self.api.post("/authenticators/passkey", status, json=body)

    def show(self, **lies: Any) -> dict[str, Any]:
        """The newest passkey shown for a challenge of its own, which is not yet sent."""
        options = self.nobody.post("/login/passkey/options").json
        return self.authenticator.get(options, **lies)

    def sign_in(self, status: int = 200, **lies: Any) -> Answer:
        return self.send(self.show(**lies), status)

    def send(self, credential: Any, status: int = 200) -> Answer:
        return self.nobody.post("/login/passkey", status, json={"credential": credential})

    @property
    def nobody(self) -> Api:
        return self.api.as_token(None)
