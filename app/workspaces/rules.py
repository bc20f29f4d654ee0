"""What one member may do to another, in one table. Anybody may leave; see `members.py`."""

from __future__ import annotations

TYPES = ("owner", "admin", "member", "guest")

# Whom each type of member may add, change (what they are and what they become) and remove.
MANAGES: dict[str, frozenset[str]] = {
    "owner": frozenset({"owner", "admin", "member", "guest"}),
    "admin": frozenset({"admin", "member", "guest"}),
    "member": frozenset(),
    "guest": frozenset(),
}

MANAGERS = tuple(kind for kind in TYPES if MANAGES[kind])


def may_manage(actor: str, *others: str) -> bool:
    allowed = MANAGES.get(actor, frozenset())
    return bool(allowed) and allowed.issuperset(others)
