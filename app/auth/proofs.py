"""Emailed proofs: a long signed token for links, and a short code to type.

A proof is valid for one purpose and one subject. It has a fingerprint of the subject's state: a
change of the state ends the proof, so that a proof is single-use, and no token is stored. The
shared state store has the newest code as a keyed digest; five wrong attempts end it. Attempts are
counted before they are checked, so that parallel requests cannot exceed the limit.
"""

import hashlib
import hmac
import json
import re
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

# Shorter strings are codes (defined by the API contract).
SHORTEST_TOKEN = 10
# Users group the digits of a code as emails and apps show them.
_SEPARATORS = re.compile(r"[\s\u2010-\u2015-]+")


T = TypeVar("T")


class Purpose(NamedTuple):
    name: str
    token_life: timedelta
    code_life: timedelta = timedelta(0)


class ProofSubject(NamedTuple, Generic[T]):
    """The subject of a proof: an account, an email address without one, an invitation."""

    kind: str
    # A value that JSON can represent.
    id: object
    # A change of any of these values ends the proof.
    state: Sequence[object]
    row: T


class IssuedProof(NamedTuple):
    token: str
    code: str


class Proofs:
    def __init__(
        self, secret: str, fallbacks: Sequence[str], keystore: Keystore, clock: Clock
    ) -> None:
        self.keystore = keystore
        # The first key signs; proofs of the other keys are still accepted.
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

    def issue(
        self, purpose: Purpose, subject: ProofSubject[Any], browser_secret: str = ""
    ) -> IssuedProof:
        """Return a token and a code. The code replaces any earlier one.

        `browser_secret` is given to the requesting browser: the code is invalid without it.
        """
        token = self.token(purpose, subject)
        code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"
        nonce = secrets.token_hex(4)
        digest = self._keyed(_text(purpose, subject, nonce, browser_secret, code))
        seconds = int(purpose.code_life.total_seconds())
        self.keystore.put(_code_key(purpose, subject), f"{nonce}:{digest}", seconds)
        return IssuedProof(token, code)

    def token(self, purpose: Purpose, subject: ProofSubject[Any]) -> str:
        """Return a token alone: nothing is stored, and it replaces no other."""
        fingerprint = self._keyed(_text(purpose, subject))
        salt = _salt(purpose, subject.kind)
        return str(self._serializer.dumps([subject.id, fingerprint], salt=salt))

    def by_token(
        self, purpose: Purpose, kind: str, token: str, find: Callable[[Any], ProofSubject[T] | None]
    ) -> T:
        """Return the row of the token's subject, which `find` reads; raise InvalidProof."""
        try:
            subject_id, fingerprint = self._serializer.loads(
                token, max_age=int(purpose.token_life.total_seconds()), salt=_salt(purpose, kind)
            )
        except (BadData, ValueError, TypeError):
            raise InvalidProof from None
        subject = find(subject_id)
        if subject is None or not self._matches(fingerprint, _text(purpose, subject)):
            raise InvalidProof
        return subject.row

    def by_code(
        self, purpose: Purpose, subject: ProofSubject[T], code: str, browser_secret: str = ""
    ) -> T:
        """Return the row of the subject if the code is its newest; raise InvalidProof."""
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
        typed = _text(purpose, subject, nonce, browser_secret, without_separators(code))
        if not self._matches(digest, typed):
            raise InvalidProof
        # Correct attempts are not counted.
        self.keystore.count(tries, seconds, by=-1)
        return subject.row

    def use_code(
        self, purpose: Purpose, subject: ProofSubject[T], code: str, browser_secret: str = ""
    ) -> T:
        """Check a code as `by_code` does, and end it; of simultaneous uses, one succeeds. For uses
        that do not change the subject's state."""
        row = self.by_code(purpose, subject, code, browser_secret)
        if self.keystore.take(_code_key(purpose, subject)) is None:
            raise InvalidProof
        return row

    def end_code(self, purpose: Purpose, subject: ProofSubject[Any]) -> None:
        self.keystore.drop(_code_key(purpose, subject))

    def _keyed(self, text: bytes) -> str:
        return _hmac(self._secrets[0], text)

    def _matches(self, keyed: str, text: bytes) -> bool:
        return any(hmac.compare_digest(keyed, _hmac(secret, text)) for secret in self._secrets)


@dataclass(eq=False)
class AccountProofs:
    """Proofs for one purpose that a user reads the email of an account."""

    purpose: Purpose
    proofs: Proofs
    accounts: Accounts
    ids: IdKind
    # Whether a sign-in ends the proofs too, if the accounts have the time of the last one.
    until_sign_in: bool = False

    def issue(self, account: AccountLike) -> IssuedProof:
        return self.proofs.issue(self.purpose, account_subject(account))

    def token(self, account: AccountLike) -> str:
        return self.proofs.token(self.purpose, self._subject(account))

    def issue_unusable(self, email: str) -> None:
        """Do the work of a proof for an email address without an account."""
        self.proofs.issue(self.purpose, ProofSubject("unknown", email, (), None))

    def find(self, token_or_code: str, email: str | None) -> AccountLike:
        """Return the account of a valid proof; raise InvalidProof. A code needs the email."""
        if is_code(token_or_code):
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
        return self._subject(account) if account is not None else None

    def _subject(self, account: AccountLike) -> ProofSubject[AccountLike]:
        subject = account_subject(account)
        last = getattr(account, "last_login_date", None)
        if not self.until_sign_in or last is None:
            return subject
        return subject._replace(state=(*subject.state, last.timestamp()))


def account_subject(account: AccountLike) -> ProofSubject[AccountLike]:
    """Return the subject of an account. A change of password or email address, or a revocation of
    tokens, ends the proof."""
    password_hash, moment = state_of(account)
    since = moment.timestamp() if moment else None
    return ProofSubject(
        ACCOUNT, serialize_id(account.id), (account.email, password_hash, since), account
    )


def without_separators(code: str) -> str:
    """Return a code of digits without white space and hyphens, and any other text unchanged."""
    digits = _SEPARATORS.sub("", code)
    return digits if digits.isdecimal() else code


def is_code(token_or_code: str) -> bool:
    return len(without_separators(token_or_code)) < SHORTEST_TOKEN


def _salt(purpose: Purpose, kind: str) -> str:
    return f"{SALT}.{purpose.name}.{kind}"


def _code_key(purpose: Purpose, subject: ProofSubject[Any]) -> str:
    return f"proof:{purpose.name}:{subject.kind}:{subject.id}"


def _text(purpose: Purpose, subject: ProofSubject[Any], *more: str) -> bytes:
    """Return the parts as JSON, so that different lists of parts never give the same text."""
    parts = (SALT, purpose.name, subject.kind, subject.id, subject.state, *more)
    return json.dumps(parts, default=str).encode()


def _hmac(secret: bytes, text: bytes) -> str:
    return hmac.new(secret, text, hashlib.sha256).hexdigest()
