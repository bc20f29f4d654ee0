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
from .db.transaction import AnySession, after_commit
from .errors import Problem
from .request import current_origin, network_of

log = logging.getLogger("frontdesk.security")

# The word of each kind of line, with what it is about.
EVENTS: Mapping[str, str] = {
    "sign_in": "an account signs in",
    "login_code_request": "somebody asks for the mail with a code that signs in",
    "reauthentication": "somebody who is in shows once more who they are",
    "logout": "an account logs out",
    "recovery_request": "somebody asks for the mail that recovers a password",
    "proof": "somebody shows a mailed token or code",
    "password_reset": "a password is set with a mailed token or code",
    "account_creation": "an account is made",
    "address_proof": "an account's owner proves to read the mail of its address",
    "account_change": "an account's e-mail, password, role, status or another detail changes",
    "email_change_request": "a caller asks for another e-mail address",
    "email_undo": "an account's former address takes the change of it back",
    "account_deletion_request": "an account's owner asks for its end",
    "account_restoration": "an account that was to be deleted is kept",
    "account_deletion": "an account is deleted",
    "account_export": "somebody asks for a copy of all that is held of their account",
    "account_unlock": "an operator forgets the wrong passwords of an account",
    "session_end": "an account's owner ends a session, or several",
    "session_reuse": "a refresh token was copied, and its session is ended",
    "tokens_ended": "an operator ends the tokens of one account or of all",
    "identity_link": "an account is linked to a person at a provider",
    "identity_unlink": "an operator forgets who signs in to an account through a provider",
    "factor_change": "an account's second factors or recovery codes change",
    "recovery_code_use": "a recovery code stands in for a second factor",
    "device_trust": "a device is trusted, or no longer",
    "passkey_suspicion": "a passkey signs rightly, and may yet be a copy",
    "membership": "somebody becomes a member of a workspace, another type of one, or none",
    "credential": "a request shows who it is from",
    "entry": "a caller asks for what is not theirs",
    "limit": "somebody comes to a limit or quota",
    "input": "a request carries what is not valid",
}
SUCCEEDED, REFUSED = "succeeded", "refused"

WINDOW_SECONDS = 60.0
# Refusals that are told in a window: of one kind and address, and in all.
EACH = 10
IN_ALL = 600
# In a window, so many kinds and addresses are counted apart, and so many named at its end.
COUNTED = 10_000
NAMED = 50


def tell(event: str, **facts: Any) -> None:
    """A deed, once it is stored. Who acts and from where, the origin says."""
    if log.isEnabledFor(logging.INFO):
        _write(_fields(event, SUCCEEDED, facts))


def tell_when_stored(session: AnySession, event: str, **facts: Any) -> None:
    after_commit(session, lambda: tell(event, **facts))


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
    if event not in EVENTS:
        raise KeyError(event)
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
