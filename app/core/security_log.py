"""What was done, or refused, that bears on security: one line of the log each, for machines.

The lines are on a logger of their own and carry their facts as fields: never a password, token or
code, and nobody is named by an address that no account has. All deeds are told. Refusals cost
whoever provokes them nothing, so of each kind and address some are told in a minute, and of the
others how many there were.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, NamedTuple

from flask import request

from .clock import Clock
from .errors import Problem
from .request import current_origin, network_of

log = logging.getLogger("frontdesk.security")

# What an audit log entry of a rejected request can hold, each with its description.
REFUSAL_DATA: Mapping[str, str] = {
    "reason": "the error code of the response",
    "method": "the HTTP method",
    "route": "the route's rule",
    "limit": "the rate limit or quota",
    "left_out": "number of similar entries that were omitted",
}
SUCCEEDED, REFUSED = "succeeded", "refused"

WINDOW_SECONDS = 60.0
# Refusals that are told in a window: of one kind and address, and in all.
EACH = 10
IN_ALL = 600
# In a window, so many kinds and addresses are counted apart, and so many named at its end.
COUNTED = 10_000
NAMED = 50


def log_action(event: str, fields: Mapping[str, Any]) -> None:
    """Log a stored action; the actor and the IP address are those of the current request."""
    _write(_fields(event, SUCCEEDED, fields))


class Where(NamedTuple):
    event: str
    # Empty: of nobody in particular.
    address: str


# Keeps a refusal with its facts, beside the log.
Keep = Callable[[str, Mapping[str, Any]], object]


class Refusals:
    """Tells of one application's refused requests, and is not to be talked to death."""

    def __init__(self, clock: Clock, keep: Keep | None = None) -> None:
        self._clock = clock
        self._keep = keep
        self._lock = Lock()
        self._ends = 0.0
        self._told = 0
        self._seen: Counter[Where] = Counter()
        self._left_out: Counter[Where] = Counter()

    def tell(self, problem: Problem) -> None:
        event = problem.note.get("event", problem.security_event)
        if not event or not (self._keep or log.isEnabledFor(logging.INFO)):
            return
        is_told, left_out = self._count(Where(event, network_of(request.remote_addr or "")))
        for where, number in left_out.items():
            facts = {"address": where.address or None, "left_out": number}
            _write({"event": where.event, "outcome": REFUSED, **facts})
            if self._keep:
                self._keep(where.event, facts)
        if is_told:
            # The rule and not the path, which may hold a secret.
            route = request.url_rule.rule if request.url_rule is not None else None
            asked = {"method": request.method, "route": route}
            refused = {"reason": problem.code, **asked, **problem.note}
            _write(_fields(event, REFUSED, refused))
            if self._keep:
                self._keep(event, refused)

    def _count(self, where: Where) -> tuple[bool, Mapping[Where, int]]:
        """Whether this one is told; and what the window before, if it has ended, left out."""
        left_out: Mapping[Where, int] = {}
        with self._lock:
            now = self._clock.now().timestamp()
            if now >= self._ends:
                left_out = _summed(self._left_out)
                self._seen, self._left_out, self._told = Counter(), Counter(), 0
                self._ends = now + WINDOW_SECONDS
            if len(self._seen) >= COUNTED and where not in self._seen:
                where = where._replace(address="")
            self._seen[where] += 1
            is_told = self._seen[where] <= EACH and self._told < IN_ALL
            if is_told:
                self._told += 1
            else:
                self._left_out[where] += 1
        return is_told, left_out


def _summed(left_out: Counter[Where]) -> Mapping[Where, int]:
    """Those of the busiest addresses, and the others by their event."""
    named = dict(left_out.most_common(NAMED))
    others: Counter[Where] = Counter()
    for where, number in left_out.items():
        if where not in named:
            others[where._replace(address="")] += number
    return others + Counter(named)


def _fields(event: str, outcome: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    origin = current_origin()
    concerned = facts.get("account_id", origin.account_id)
    return {
        "event": event,
        "outcome": outcome,
        "by": origin.kind,
        "account_id": concerned,
        # Where somebody acts on another's account.
        "actor_id": origin.account_id if origin.account_id != concerned else None,
        "workspace_id": origin.workspace_id,
        "address": origin.address,
        "request_id": origin.request_id,
        **facts,
    }


class _Sentence:
    """The fields as text, made only where a line is written for people."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields

    def __str__(self) -> str:
        facts = (f"{name}={value}" for name, value in list(self.fields.items())[2:])
        return " ".join((self.fields["event"], self.fields["outcome"], *facts))


def _write(fields: Mapping[str, Any]) -> None:
    known = {name: value for name, value in fields.items() if value is not None}
    log.info("%s", _Sentence(known), extra={"fields": known})
