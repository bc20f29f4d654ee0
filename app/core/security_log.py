"""The security log: one entry for each action and each rejected request.

Entries go to the logger `frontdesk.security` and carry their data as fields: never a password, a
token, a code or an email address. All actions are logged. Rejected requests cost an attacker
nothing, so only some of each event and IP address are logged in a minute; the rest are counted.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from threading import Lock
from typing import NamedTuple

from flask import request

from .clock import Clock
from .errors import Problem
from .request import current_origin, rate_limit_network
from .types import JsonObject, Values

log = logging.getLogger("frontdesk.security")

# What an audit log entry of a rejected request can hold, each with its description.
REJECTION_DATA: Mapping[str, str] = {
    "reason": "the error code of the response",
    "method": "the HTTP method",
    "route": "the route's rule",
    "limit": "the rate limit or quota",
    "left_out": "number of similar entries that were omitted",
}
SUCCEEDED, REFUSED = "succeeded", "refused"

WINDOW_SECONDS = 60.0
# Rejected requests that are logged in a window: of one event and IP address, and in total.
MAX_PER_SOURCE = 10
MAX_TOTAL = 600
# The number of events with IP addresses that are counted, and of those logged at the window's end.
MAX_SOURCES = 10_000
MAX_NAMED_SOURCES = 50


def log_action(event: str, fields: Values) -> None:
    """Log a stored action; the actor and the IP address are those of the current request."""
    _write(_fields(event, SUCCEEDED, fields))


class LogSource(NamedTuple):
    event: str
    # Empty: of several IP addresses.
    address: str


# Writes a rejected request to the audit log, by the event and the fields.
RecordRejection = Callable[[str, Values], object]


class RejectionLog:
    """Logs the rejected requests of one application, with a limit against floods."""

    def __init__(self, clock: Clock, record: RecordRejection | None = None) -> None:
        self._clock = clock
        self._record = record
        # Called for every rejected request, without the limit.
        self.watchers: list[Callable[[Problem], object]] = []
        self._lock = Lock()
        self._ends = 0.0
        self._logged = 0
        self._seen: Counter[LogSource] = Counter()
        self._omitted: Counter[LogSource] = Counter()

    def log(self, problem: Problem) -> None:
        for watch in self.watchers:
            watch(problem)
        event = problem.note.get("event", problem.security_event)
        if not event or not (self._record or log.isEnabledFor(logging.INFO)):
            return
        is_logged, omitted = self._count(
            LogSource(event, rate_limit_network(request.remote_addr or ""))
        )
        for source, count in omitted.items():
            data = {"address": source.address or None, "left_out": count}
            _write({"event": source.event, "outcome": REFUSED, **data})
            if self._record:
                self._record(source.event, data)
        if is_logged:
            # The path can contain a secret, the rule cannot.
            route = request.url_rule.rule if request.url_rule is not None else None
            target = {"method": request.method, "route": route}
            refused = {"reason": problem.code, **target, **problem.note}
            _write(_fields(event, REFUSED, refused))
            if self._record:
                self._record(event, refused)

    def _count(self, source: LogSource) -> tuple[bool, Mapping[LogSource, int]]:
        """Return whether to log this request, and the omitted counts if a window has ended."""
        omitted: Mapping[LogSource, int] = {}
        with self._lock:
            now = self._clock.now().timestamp()
            if now >= self._ends:
                omitted = _sum_by_source(self._omitted)
                self._seen, self._omitted, self._logged = Counter(), Counter(), 0
                self._ends = now + WINDOW_SECONDS
            if len(self._seen) >= MAX_SOURCES and source not in self._seen:
                source = source._replace(address="")
            self._seen[source] += 1
            is_logged = self._seen[source] <= MAX_PER_SOURCE and self._logged < MAX_TOTAL
            if is_logged:
                self._logged += 1
            else:
                self._omitted[source] += 1
        return is_logged, omitted


def _sum_by_source(omitted: Counter[LogSource]) -> Mapping[LogSource, int]:
    """Return the counts of the busiest IP addresses, and the sums of the others by event."""
    named = dict(omitted.most_common(MAX_NAMED_SOURCES))
    others: Counter[LogSource] = Counter()
    for source, count in omitted.items():
        if source not in named:
            others[source._replace(address="")] += count
    return others + Counter(named)


def _fields(event: str, outcome: str, fields: Values) -> JsonObject:
    origin = current_origin()
    affected = fields.get("account_id", origin.account_id)
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
        **fields,
    }


class _Sentence:
    """The fields as text, built only if a handler formats the entry as text."""

    def __init__(self, fields: Values) -> None:
        self.fields = fields

    def __str__(self) -> str:
        fields = (f"{name}={value}" for name, value in list(self.fields.items())[2:])
        return " ".join((self.fields["event"], self.fields["outcome"], *fields))


def _write(fields: Values) -> None:
    known = {name: value for name, value in fields.items() if value is not None}
    log.info("%s", _Sentence(known), extra={"fields": known})
