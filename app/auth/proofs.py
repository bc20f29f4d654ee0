"""Emailed proofs: a long signed token for links, and a short code to type.

Each is made for one purpose and about one subject, and is good for no other. It carries a
fingerprint of the subject's state: when that changes the proof is dead, so using it uses it up, and
nothing of the token is stored. The newest code stands in the keystore as a keyed digest; five wrong
tries end it, counted before each is looked at so that none slips past in parallel.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from itsdangerous import BadData, URLSafeTimedSerializer
from itsdangerous.timed import TimestampSigner

from ..accounts.models import AccountLike
from ..accounts.service import Accounts, state_of
from ..core.clock import Clock
from ..core.db.account_ids import IdKind, serialize_id
from ..core.keystore import Keystore
from ..core.types import AccountKey
from .errors import InvalidProof

SALT = "frontdesk.proof"
ACCOUNT = "account"
CODE_DIGITS = 8
MAX_WRONG_CODES = 5

# Anything shorter is a code (the contract's boundary).
SHORTEST_TOKEN = 10


T = TypeVar("T")


class Purpose(NamedTuple):
    name: str
    token_life: timedelta
    code_life: timedelta = timedelta(0)


class ProofSubject(NamedTuple, Generic[T]):
    """What a proof is about: an account, an address that has none yet, an invitation."""

    kind: str
    # As JSON can carry it.
    id: Any
    # Whatever ends the proof when it changes.
    state: Sequence[Any]
    row: T


class IssuedProof(NamedTuple):
    token: str
    code: str


class Proofs:
    def __init__(
        self, secret: str, fallbacks: Sequence[str], keystore: Keystore, clock: Clock
    ) -> None:
        self.keystore = keystore
        # The first makes them; what was made by the others is still known again.
        self._secrets = [key.encode() for key in (secret, *fallbacks)]

        class Signer(TimestampSigner):
            """Reads the time from the application's clock."""

            def get_timestamp(self) -> int:
                return int(clock.now().timestamp())

        self._serializer = URLSafeTimedSerializer(
            # The last key signs; the others are still accepted.
            [*reversed(fallbacks), secret],
            signer=Signer,
            signer_kwargs={"digest_method": hashlib.sha256},
        )

    def issue(self, purpose: Purpose, subject: ProofSubject[Any], held: str = "") -> IssuedProof:
        """A token and a code. The code takes the place of any earlier one.

        `held` is what the browser that asks is given to keep: the code alone is then worth nothing.
        """
        token = self.token(purpose, subject)
        code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"
        nonce = secrets.token_hex(4)
        digest = self._keyed(_text(purpose, subject, nonce, held, code))
        seconds = int(purpose.code_life.total_seconds())
        self.keystore.put(_code_key(purpose, subject), f"{nonce}:{digest}", seconds)
        return IssuedProof(token, code)

    def token(self, purpose: Purpose, subject: ProofSubject[Any]) -> str:
        """The token alone: nothing is stored for it, and it takes the place of no other."""
        fingerprint = self._keyed(_text(purpose, subject))
        salt = _salt(purpose, subject.kind)
        return str(self._serializer.dumps([subject.id, fingerprint], salt=salt))

    def by_token(
        self,
        purpose: Purpose,
        kind: str,
        token: str,
        find: Callable[[Any], ProofSubject[T] | None],
    ) -> T:
        """What the token is about, as `find` reads it now by its id; otherwise InvalidProof."""
        try:
            subject_id, fingerprint = self._serializer.loads(
                token, max_age=int(purpose.token_life.total_seconds()), salt=_salt(purpose, kind)
            )
        except (BadData, ValueError, TypeError):
            raise InvalidProof from None
        subject = find(subject_id)
        if subject is None or not self._knows(fingerprint, _text(purpose, subject)):
            raise InvalidProof
        return subject.row

    def by_code(self, purpose: Purpose, subject: ProofSubject[T], code: str, held: str = "") -> T:
        """What the code is about, if it is the newest for it; otherwise InvalidProof."""
        key = _code_key(purpose, subject)
        entry = self.keystore.get(key)
        if entry is None:
            raise InvalidProof
        nonce, digest = entry.split(":")
        tries = f"{key}:{nonce}"
        seconds = int(purpose.code_life.total_seconds()) * 2
        if self.keystore.count(tries, seconds) > MAX_WRONG_CODES:
            self.keystore.count(tries, seconds, by=-1)
            raise InvalidProof
        if not self._knows(digest, _text(purpose, subject, nonce, held, code)):
            raise InvalidProof
        # Only wrong tries stay counted.
        self.keystore.count(tries, seconds, by=-1)
        return subject.row

    def use_code(self, purpose: Purpose, subject: ProofSubject[T], code: str, held: str = "") -> T:
        """As `by_code`, for what changes nothing that the code is about: it ends with its use, and
        of many uses at once one counts."""
        row = self.by_code(purpose, subject, code, held)
        if self.keystore.take(_code_key(purpose, subject)) is None:
            raise InvalidProof
        return row

    def end_code(self, purpose: Purpose, subject: ProofSubject[Any]) -> None:
        self.keystore.drop(_code_key(purpose, subject))

    def _keyed(self, text: bytes) -> str:
        return _hmac(self._secrets[0], text)

    def _knows(self, keyed: str, text: bytes) -> bool:
        return any(hmac.compare_digest(keyed, _hmac(secret, text)) for secret in self._secrets)


@dataclass(eq=False)
class AccountProofs:
    """Proofs for one purpose that a user reads the email of an account."""

    purpose: Purpose
    proofs: Proofs
    accounts: Accounts
    ids: IdKind

    def issue(self, account: AccountLike) -> IssuedProof:
        return self.proofs.issue(self.purpose, account_subject(account))

    def issue_unusable(self, email: str) -> None:
        """Do the work of a proof for an email address without an account."""
        self.proofs.issue(self.purpose, ProofSubject("stranger", email, (), None))

    def find(self, token_or_code: str, email: str | None) -> AccountLike:
        """Return the account of a valid proof; raise InvalidProof. A code needs the email."""
        if len(token_or_code) < SHORTEST_TOKEN:
            account = self.accounts.find(email or "")
            if account is None:
                raise InvalidProof
            return self.proofs.by_code(self.purpose, account_subject(account), token_or_code)
        account = self.proofs.by_token(self.purpose, ACCOUNT, token_or_code, self._by_id)
        if email is not None and self.accounts.find(email) is not account:
            raise InvalidProof
        return account

    def end_code(self, account: AccountLike) -> None:
        self.proofs.end_code(self.purpose, account_subject(account))

    def _by_id(self, account_id: AccountKey) -> ProofSubject[AccountLike] | None:
        account = self.accounts.by_id(self.ids.from_text(account_id))
        return account_subject(account) if account is not None else None


def account_subject(account: AccountLike) -> ProofSubject[AccountLike]:
    """Ended by another password, another e-mail, and whatever else ends the account's tokens."""
    password_hash, moment = state_of(account)
    since = moment.timestamp() if moment else None
    return ProofSubject(
        ACCOUNT, serialize_id(account.id), (account.email, password_hash, since), account
    )


def _salt(purpose: Purpose, kind: str) -> str:
    return f"{SALT}.{purpose.name}.{kind}"


def _code_key(purpose: Purpose, subject: ProofSubject[Any]) -> str:
    return f"proof:{purpose.name}:{subject.kind}:{subject.id}"


def _text(purpose: Purpose, subject: ProofSubject[Any], *more: str) -> bytes:
    """As JSON, so that no two lists of parts read the same."""
    parts = (SALT, purpose.name, subject.kind, subject.id, subject.state, *more)
    return json.dumps(parts, default=str).encode()


def _hmac(secret: bytes, text: bytes) -> str:
    return hmac.new(secret, text, hashlib.sha256).hexdigest()
