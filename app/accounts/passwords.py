"""Password hashes: bcrypt, without its edges.

bcrypt raises on more than 72 bytes and on NUL, and a hash keeps a core busy for a quarter of a
second: as many are computed at once as there are cores, and only some may wait for their turn, so
that a flood of logins leaves threads and cores to the other routes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

import bcrypt

from .errors import TooManyHashes, UnfitPassword

MIN_LENGTH = 8
MAX_BYTES = 72
WAIT_SECONDS = 10.0


class Passwords:
    def __init__(self, rounds: int, at_once: int) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        self.rounds = rounds
        self._computing = BoundedSemaphore(cores)
        self._admitted = BoundedSemaphore(at_once)
        # Belongs to nobody; checking against it takes as long as checking against a real one.
        self._nobody = f"$2b${rounds:02d}${'.' * 22}{'.' * 31}".encode()

    def hash(self, password: str) -> str:
        with self._turn():
            return bcrypt.hashpw(password.encode(), bcrypt.gensalt(self.rounds)).decode()

    def matches(self, password: str, password_hash: str | None) -> bool:
        """As slow for an account that is not there, or has no password, as for a wrong one."""
        usable = _encoded(password)
        known = (password_hash or "").encode()
        with self._turn():
            try:
                right = bcrypt.checkpw(usable or b"-", known or self._nobody)
            except ValueError:
                # A stored value that is no bcrypt hash: nobody's password.
                right = bcrypt.checkpw(usable or b"-", self._nobody) and False
        return right and usable is not None and bool(known)

    def is_outdated(self, password_hash: str) -> bool:
        """Whether the hash was made at a lower cost than is asked for now."""
        cost = password_hash.split("$")[2:3]
        return bool(cost) and cost[0].isdecimal() and int(cost[0]) < self.rounds

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._admitted.acquire(blocking=False):
            raise TooManyHashes
        try:
            if not self._computing.acquire(timeout=WAIT_SECONDS):
                raise TooManyHashes
            try:
                yield
            finally:
                self._computing.release()
        finally:
            self._admitted.release()


def check_password(password: str, email: str) -> None:
    """What a password to be set must be; raised with the words for its owner."""
    if reason := unfit(password):
        raise UnfitPassword(reason)
    if password.lower() == email.lower():
        raise UnfitPassword("The password must not be the email address")


def unfit(password: str) -> str | None:
    """Why nobody may have this password, if so."""
    if len(password) < MIN_LENGTH:
        return f"The password needs at least {MIN_LENGTH} characters."
    if _encoded(password) is None:
        return f"The password has over {MAX_BYTES} bytes, or characters that cannot be used."
    return None


def _encoded(password: str) -> bytes | None:
    try:
        encoded = password.encode()
    except UnicodeEncodeError:
        return None
    return encoded if len(encoded) <= MAX_BYTES and b"\x00" not in encoded else None
