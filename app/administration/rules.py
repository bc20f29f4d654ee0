"""What one account may do to another, in one table. Who looks after anybody may look at all;
nobody looks after themselves, and the last active root stays (see `service.py`)."""

from __future__ import annotations

from ..accounts.models import ROLES

ROOT = "root"

# Whom each role may make, change (what they are and what they become) and delete. Root also has
# those whose role is a host's own.
LOOKS_AFTER: dict[str, frozenset[str]] = {
    ROOT: frozenset(ROLES),
    "admin": frozenset({"user"}),
    "user": frozenset(),
}

ADMINISTRATORS = tuple(role for role in ROLES if LOOKS_AFTER[role])


def may_look_after(actor: str, *others: str) -> bool:
    return actor == ROOT or LOOKS_AFTER.get(actor, frozenset()).issuperset(others)
