"""The security log: one entry for each action and each rejected request.

Entries go to the logger `frontdesk.security` and carry their data as fields: never a password, a
token, a code or an email address. All actions are logged. Rejected requests cost an attacker
nothing, so only some of each event and IP address are logged in a minute; the rest are counted.
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
from .request import current_origin, rate_limit_network
from .types import JsonObject, Values

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
# Rejected requests that are logged in a window: of one event and IP address, and in total.
EACH = 10
IN_ALL = 600
# The number of events with IP addresses that are counted, and of those logged at the window's end.
COUNTED = 10_000
NAMED = 50


def log_action(event: str, fields: Values) -> None:
    """Log a stored action; the actor and the IP address are those of the current request."""
    _write(_fields(event, SUCCEEDED, fields))


class LogSource(NamedTuple):
    event: str
    # Empty: of several IP addresses.
    address: str


# Writes a rejected request to the audit log, by the event and the fields.
Keep = Callable[[str, Mapping[str, Any]], object]


class Refusals:
    """Logs the rejected requests of one application, with a limit against floods."""

    def __init__(self, clock: Clock, keep: Keep | None = None) -> None:
        self._clock = clock
        self._keep = keep
        self._lock = Lock()
        self._ends = 0.0
        self._logged = 0
        self._seen: Counter[LogSource] = Counter()
        self._left_out: Counter[LogSource] = Counter()

    def tell(self, problem: Problem) -> None:
        event = problem.note.get("event", problem.security_event)
        if not event or not (self._keep or log.isEnabledFor(logging.INFO)):
            return
        is_logged, left_out = self._count(
            LogSource(event, rate_limit_network(request.remote_addr or ""))
        )
        for where, number in left_out.items():
            facts = {"address": where.address or None, "left_out": number}
            _write({"event": where.event, "outcome": REFUSED, **facts})
            if self._keep:
                self._keep(where.event, facts)
        if is_logged:
            # The path can contain a secret, the rule cannot.
            route = request.url_rule.rule if request.url_rule is not None else None
            asked = {"method": request.method, "route": route}
            refused = {"reason": problem.code, **asked, **problem.note}
            _write(_fields(event, REFUSED, refused))
            if self._keep:
                self._keep(event, refused)

    def _count(self, where: LogSource) -> tuple[bool, Mapping[LogSource, int]]:
        """Return whether to log this request, and the omitted counts if a window has ended."""
        left_out: Mapping[LogSource, int] = {}
        with self._lock:
            now = self._clock.now().timestamp()
            if now >= self._ends:
                left_out = _summed(self._left_out)
                self._seen, self._left_out, self._logged = Counter(), Counter(), 0
                self._ends = now + WINDOW_SECONDS
            if len(self._seen) >= COUNTED and where not in self._seen:
                where = where._replace(address="")
            self._seen[where] += 1
            is_logged = self._seen[where] <= EACH and self._logged < IN_ALL
            if is_logged:
                self._logged += 1
            else:
                self._left_out[where] += 1
        return is_logged, left_out


def _summed(left_out: Counter[LogSource]) -> Mapping[LogSource, int]:
    """Return the counts of the busiest IP addresses, and the sums of the others by event."""
    named = dict(left_out.most_common(NAMED))
    others: Counter[LogSource] = Counter()
    for where, number in left_out.items():
        if where not in named:
            others[where._replace(address="")] += number
    return others + Counter(named)


def _fields(event: str, outcome: str, facts: Values) -> JsonObject:
    origin = current_origin()
    affected = facts.get("account_id", origin.account_id)
    return {
        "event": event,
        "outcome": outcome,
        "by": origin.kind,
        "account_id": affected,
        # Only if an account acts on another account.
        "actor_id": origin.account_id if origin.account_id != affected else None,
        "workspace_id": origin.workspace_id,
        "address": origin.address,
        "request_id": origin.request_id,
        **facts,
    }


class _Sentence:
    """The fields as text, built only if a handler formats the entry as text."""

    def __init__(self, fields: Values) -> None:
        self.fields = fields

    def __str__(self) -> str:
        facts = (f"{name}={value}" for name, value in list(self.fields.items())[2:])
        return " ".join((self.fields["event"], self.fields["outcome"], *facts))


def _write(fields: Values) -> None:
    known = {name: value for name, value in fields.items() if value is not None}
    log.info("%s", _Sentence(known), extra={"fields": known})
