"""Codes by email for new users with an address that the provider has not verified.

A code is valid only with the id of its sign-in, which only the requesting client gets. The shared
state store has the user's claims until the code is used: a change of these claims ends the code.
"""

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ..errors import EmailCodeRequired, InvalidProof
from ..login_codes.codes import ID_BYTES
from ..proofs import Proofs, ProofSubject, Purpose

IDENTITY_EMAIL = "identity-email"


@dataclass(eq=False)
class EmailCodes:
    proofs: Proofs
    purpose: Purpose
    # Counts an email by its email address and the requesting IP address.
    count: Callable[[str, str], None]
    # Sends a code to an email address.
    send: Callable[[str, str], object]

    def request(
        self, provider: str, email: str, user: Sequence[object], ip_address: str
    ) -> EmailCodeRequired:
        """Email a code, and return the error that has the id of the sign-in."""
        self.count(email, ip_address)
        login_id, entry = secrets.token_urlsafe(ID_BYTES), json.dumps(user)
        seconds = int(self.purpose.code_life.total_seconds())
        self.proofs.keystore.put(_key(login_id), entry, seconds)
        issued = self.proofs.issue(self.purpose, _subject(login_id, provider, entry), login_id)
        self.send(email, issued.code)
        return EmailCodeRequired(members={"login_id": login_id})

    def use(self, provider: str, login_id: str, code: str) -> list[Any]:
        """Use up a code, and return the user of its sign-in at the provider; raise InvalidProof."""
        # Without an entry there is no code either.
        entry = self.proofs.keystore.get(_key(login_id)) or ""
        subject = _subject(login_id, provider, entry)
        try:
            self.proofs.use_code(self.purpose, subject, code, login_id)
        except InvalidProof:
            raise InvalidProof(note={"event": "sign_in"}) from None
        self.proofs.keystore.drop(_key(login_id))
        user: list[Any] = json.loads(entry)
        return user


def _key(login_id: str) -> str:
    """Return a key with a digest of the id, so that the state store does not have the id itself."""
    return f"{IDENTITY_EMAIL}:{sha256(login_id.encode()).hexdigest()}"


def _subject(login_id: str, provider: str, entry: str) -> ProofSubject[None]:
    return ProofSubject(IDENTITY_EMAIL, _key(login_id), (provider, entry), None)
