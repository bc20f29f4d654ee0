"""Password hashes: bcrypt, with its input limits checked and its concurrency limited.

bcrypt raises on more than 72 bytes and on NUL, and a hash takes a quarter of a second of CPU time.
At most one hash per core is computed at once, and the queue has a limit, so that many sign-ins
leave threads and cores to other routes. Hashes of other software (`foreign/`) count too.
"""

import hmac
import logging
import os
import re
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Sequence
from threading import BoundedSemaphore
from typing import NamedTuple

import bcrypt

from ..core.coded_messages import CodedMessage
from ..core.errors import FeatureOff
from .errors import TooManyHashes, UnfitPassword
from .hashing_limiter import HashingLimiter, Params, Result
from .password_rules import MIN_LENGTH as MIN_LENGTH
from .password_rules import PasswordRules

# The default password of the first root account.
DEFAULT_PASSWORD = "changethis"
MAX_BYTES = 72
WAIT_SECONDS = 10.0
# A hash of a higher cost would take many seconds of CPU time.
MOST_COST = 16

_BCRYPT = re.compile(r"\$2([aby])\$([0-9]{2})\$[./A-Za-z0-9]{53}", re.ASCII)

log = logging.getLogger(__name__)


class PasswordCheck(NamedTuple):
    """The result of a password check: whether it matches, and whether to store a new hash."""

    right: bool
    renew: bool = False


WRONG = PasswordCheck(right=False)


class Passwords:
    def __init__(
        self,
        rounds: int,
        at_once: int,
        peppers: Sequence[str] = (),
        rules: PasswordRules | None = None,
        *,
        enabled: bool = True,
    ) -> None:
        self.enabled = enabled
        self.rules = rules or PasswordRules()
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        self.rounds = rounds
        self._peppers = [pepper.encode() for pepper in peppers]
        self._logged: set[str] = set()
        self._limiter = HashingLimiter(cores)
        self._queue_slots = BoundedSemaphore(at_once)
        # A hash without an account: a check against it takes as long as a check against a real one.
        self._dummy_hash = f"$2b${rounds:02d}${'.' * 22}{'.' * 31}".encode()

    def hash(self, password: str) -> str:
        salt = bcrypt.gensalt(self.rounds)
        return self._compute(bcrypt.hashpw, password.encode(), salt).decode()

    def matches(self, password: str, password_hash: str | None) -> bool:
        return self.check(password, password_hash).right

    def check(self, password: str, password_hash: str | None) -> PasswordCheck:
        """Check a password. An account without a password, or no account, takes as long as a wrong
        password.

        An imported hash, or one of a lower cost, is checked first; a wrong password is then checked
        against the dummy hash too. The response time can only reveal accounts that have not signed
        in since their import.
        """
        return self._compute(self._try, password, password_hash or "")

    def _try(self, password: str, stored: str) -> PasswordCheck:
        cost = _cost_of(stored)
        tried = WRONG
        if cost is None and stored:
            tried = self._check_foreign(password, stored)
        elif cost is not None:
            tried = self._check_bcrypt(password, stored, cost)
        if not tried.right and (cost is None or cost < self.rounds):
            self._check_bcrypt(password, self._dummy_hash.decode(), self.rounds)
        return tried

    def _check_bcrypt(self, password: str, stored: str, cost: int) -> PasswordCheck:
        """Try each pepper as well: peppered hashes look like plain ones."""
        usable, known = _encoded(password), stored.encode()
        if bcrypt.checkpw(usable or b"-", known) and usable is not None:
            return PasswordCheck(
                right=True, renew=cost < self.rounds or not stored.startswith("$2b$")
            )
        for peppered in self._peppered(password):
            if bcrypt.checkpw(peppered[:MAX_BYTES], known):
                return PasswordCheck(right=True, renew=usable is not None)
        return WRONG

    def _check_foreign(self, password: str, stored: str) -> PasswordCheck:
        # Imported at the first such hash.
        from . import foreign

        try:
            algorithm = foreign.read_hash(stored)
        except foreign.UnusableHash as error:
            self._log_once(error)
            return WRONG
        typed = _utf8(password)
        candidates = [] if typed is None else [typed]
        # Peppered hashes start with a dollar sign.
        if stored.startswith("$"):
            candidates += self._peppered(password)
        right = any(algorithm.matches(candidate) for candidate in candidates)
        # A password that bcrypt cannot hash keeps its stored hash.
        return PasswordCheck(right, renew=right and _encoded(password) is not None)

    def _peppered(self, password: str) -> list[bytes]:
        """Return the peppered forms of the password, as Flask-Security hashes them."""
        typed = _utf8(unicodedata.normalize("NFKD", password)) if self._peppers else None
        if typed is None:
            return []
        return [b64encode(hmac.digest(pepper, typed, "sha512")) for pepper in self._peppers]

    def _log_once(self, error: Exception) -> None:
        """Log once in each process, without the hash: it may be a plain-text password."""
        if str(error) not in self._logged:
            self._logged.add(str(error))
            log.error("Accounts cannot sign in with their passwords: %s", error)

    def _compute(
        self, work: Callable[Params, Result], *args: Params.args, **kw: Params.kwargs
    ) -> Result:
        """Compute when a slot is free. Raise TooManyHashes at once if the queue is full."""
        if not self.enabled:
            raise passwords_off()
        if not self._queue_slots.acquire(blocking=False):
            raise TooManyHashes
        try:
            return self._limiter.compute(WAIT_SECONDS, work, *args, **kw)
        finally:
            self._queue_slots.release()


def passwords_off() -> FeatureOff:
    return FeatureOff(note={"setting": "AUTH__PASSWORDS"})


def check_password(password: str, email: str) -> None:
    """Raise UnfitPassword, with a text for the owner, if the password cannot be set."""
    if reason := find_password_error(password):
        raise UnfitPassword(reason)
    if password.lower() == email.lower():
        raise UnfitPassword("The password must not be the email address")


def find_password_error(password: str) -> CodedMessage | None:
    """Return the reason why a password cannot be used, or None."""
    if len(password) < MIN_LENGTH:
        text = f"The password needs at least {MIN_LENGTH} characters."
        return CodedMessage(text, "too_short", min=MIN_LENGTH)
    if _encoded(password) is None:
        text = f"The password has over {MAX_BYTES} bytes, or characters that cannot be used."
        if len(_utf8(password) or b"") > MAX_BYTES:
            return CodedMessage(text, "too_long", max=MAX_BYTES)
        return CodedMessage(text, "invalid_format", expected="text")
    return None


def check_hash(text: str) -> str:
    """Return the kind of a hash; raise `foreign.UnusableHash` for one that never matches."""
    if _cost_of(text) is not None:
        return "bcrypt"
    from . import foreign

    return type(foreign.read_hash(text)).__name__.lower()


def _cost_of(stored: str) -> int | None:
    """Return the cost of a hash that bcrypt can check without conversion, or None."""
    found = _BCRYPT.fullmatch(stored)
    return int(found[2]) if found and 4 <= int(found[2]) <= MOST_COST else None


def _utf8(password: str) -> bytes | None:
    try:
        return password.encode()
    except UnicodeEncodeError:
        return None


def _encoded(password: str) -> bytes | None:
    """Return the bytes of a password that bcrypt can hash completely, or None."""
    encoded = _utf8(password)
    if encoded is None or len(encoded) > MAX_BYTES or b"\x00" in encoded:
        return None
    return encoded
