"""Derivations of a hash from a password, each with a limit on its cost.

A hash comes from an imported file or table: without a limit, one row could keep a core busy for
minutes, or take all memory, at each sign-in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from hmac import compare_digest
from typing import NamedTuple, Protocol

from ...core.extras import missing_extra


class UnusableHash(Exception):
    """The hash cannot be checked; the text has the reason, and never the hash."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason

    @classmethod
    def unknown(cls) -> UnusableHash:
        return cls("unknown_hash", "The password hash is of no kind that is known here.")

    @classmethod
    def too_costly(cls, bound: str) -> UnusableHash:
        return cls("hash_too_costly", f"The password hash costs more than is computed: {bound}.")

    @classmethod
    def lacks(cls, kind: str, install: str) -> UnusableHash:
        return cls("hash_needs_library", f"Hashes of {kind} need a library: {install}")


MOST_ROUNDS = 5_000_000
# The limit of N·r·p. 128·N·r is the memory in bytes: 256 MiB.
MOST_SCRYPT = 2**18 * 8
MOST_ARGON2_KIB = 256 * 1024
MOST_ARGON2_PASSES_KIB = 4 * MOST_ARGON2_KIB
MOST_ARGON2_LANES = 16
MOST_BCRYPT_COST = 16

# The shortest derived key: a shorter one could match by chance, an empty one always matches.
_SHORTEST, _LONGEST = 16, 128
_DIGESTS = ("sha1", "sha256", "sha512")


class HashAlgorithm(Protocol):
    def check(self) -> None:
        """Raise UnusableHash if the cost is too high or the required library is not installed."""

    def matches(self, password: bytes) -> bool: ...


class Pbkdf2(NamedTuple):
    digest: str
    rounds: int
    salt: bytes
    expected: bytes

    def check(self) -> None:
        _check_length(self.expected)
        if self.digest not in _DIGESTS or self.rounds < 1:
            raise UnusableHash.unknown()
        blocks = -(-len(self.expected) // hashlib.new(self.digest).digest_size)
        if self.rounds * blocks > MOST_ROUNDS:
            raise UnusableHash.too_costly(f"{MOST_ROUNDS:,} rounds of PBKDF2")

    def matches(self, password: bytes) -> bool:
        length = len(self.expected)
        made = hashlib.pbkdf2_hmac(self.digest, password, self.salt, self.rounds, length)
        return compare_digest(made, self.expected)


class Scrypt(NamedTuple):
    n: int
    r: int
    p: int
    salt: bytes
    expected: bytes

    def check(self) -> None:
        _check_length(self.expected)
        check_scrypt(self.n, self.r, self.p)

    def matches(self, password: bytes) -> bool:
        made = derive_scrypt(password, self.salt, self.n, self.r, self.p, len(self.expected))
        return compare_digest(made, self.expected)


class Argon2(NamedTuple):
    """The PHC string format, `$argon2id$v=19$m=…,t=…,p=…$salt$hash`."""

    text: str
    kind: str
    memory: int
    passes: int
    lanes: int

    def check(self) -> None:
        if (
            self.memory > MOST_ARGON2_KIB
            or self.memory * self.passes > MOST_ARGON2_PASSES_KIB
            or self.lanes > MOST_ARGON2_LANES
        ):
            raise UnusableHash.too_costly(
                f"{MOST_ARGON2_KIB // 1024} MiB, four passes over so much,"
                f" and {MOST_ARGON2_LANES} lanes of Argon2"
            )
        if install := missing_extra("argon2"):
            raise UnusableHash.lacks("Argon2", install)

    def matches(self, password: bytes) -> bool:
        from argon2.exceptions import Argon2Error
        from argon2.low_level import Type, verify_secret

        kind = {"i": Type.I, "d": Type.D, "id": Type.ID}[self.kind]
        try:
            return verify_secret(self.text.encode(), password, kind)
        except Argon2Error:
            return False


class Bcrypt(NamedTuple):
    """bcrypt of a digest of the password, which avoids the limit of 72 bytes."""

    text: str
    cost: int
    prepare: Callable[[bytes], bytes]

    def check(self) -> None:
        if self.cost > MOST_BCRYPT_COST:
            raise UnusableHash.too_costly(f"a bcrypt cost of {MOST_BCRYPT_COST}")

    def matches(self, password: bytes) -> bool:
        import bcrypt

        try:
            return bcrypt.checkpw(self.prepare(password), self.text.encode())
        except ValueError:
            return False


def check_scrypt(n: int, r: int, p: int) -> None:
    if n < 2 or n & (n - 1) or r < 1 or p < 1:
        raise UnusableHash.unknown()
    if n * r * p > MOST_SCRYPT:
        raise UnusableHash.too_costly("N·r·p of 2^18·8 for scrypt")


def derive_scrypt(password: bytes, salt: bytes, n: int, r: int, p: int, length: int) -> bytes:
    # The memory that OpenSSL counts, and a reserve: its default of 32 MiB is exactly N=2^15.
    memory = 128 * r * (n + p + 2) + 2**20
    return hashlib.scrypt(password, salt=salt, n=n, r=r, p=p, maxmem=memory, dklen=length)


def _check_length(expected: bytes) -> None:
    if not _SHORTEST <= len(expected) <= _LONGEST:
        raise UnusableHash.unknown()
