"""Compares what the clients were told with the database and the received emails."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import psycopg

from ..traffic import NO_RESPONSE
from .ledger import ALLOWED, GUESSES, RESETS, Attempts, Entry, Kill, Ledger

# A window that includes the requests that were under way when a part was killed.
BEFORE = 1.0
# Transactional emails wait in the memory of an application server, usually for milliseconds.
IN_MEMORY_SECONDS = 10.0
# A failed request belongs to a kill until this time after the part is back.
AFTER = 5.0
DELIVERY_SECONDS = 180


@dataclass(frozen=True)
class Check:
    title: str
    found: str
    passed: bool


@dataclass
class Stored:
    """What the database and the mail server have at the end."""

    tasks: set[str] = field(default_factory=set)
    # Phone numbers by email address.
    accounts: dict[str, str | None] = field(default_factory=dict)
    read: set[tuple[int, int]] = field(default_factory=set)
    # The recipients of each broadcast by its title.
    inboxes: dict[str, list[int]] = field(default_factory=dict)
    # The email addresses of the recipients.
    addresses: dict[int, str] = field(default_factory=dict)
    # Subject and email address of each received email.
    emails: list[tuple[str, str]] = field(default_factory=list)
    pending: int = 0
    # The statuses of account reads with all revoked tokens.
    revoked: Counter[int] = field(default_factory=Counter)
    unhandled: int = 0


def read_stored(connection: psycopg.Connection) -> Stored:
    stored = Stored()
    rows = connection.execute("SELECT title FROM frontdesk_tasks")
    stored.tasks = {str(title) for (title,) in rows}
    for number, email, phone in connection.execute("SELECT id, email, phone FROM accounts"):
        stored.accounts[email] = phone
        stored.addresses[number] = email
    rows = connection.execute(
        "SELECT n.title, n.id, i.receiver_id, i.is_read FROM frontdesk_notifications n"
        " LEFT JOIN frontdesk_inbox i ON i.notification_id = n.id"
    )
    for title, notification, receiver, is_read in rows:
        stored.inboxes.setdefault(title, []).append(receiver)
        if is_read:
            stored.read.add((notification, receiver))
    return stored


def wait_for_deliveries(connection: psycopg.Connection) -> int:
    """Wait until nothing is pending; return the number of pending deliveries."""
    until = time.monotonic() + DELIVERY_SECONDS
    query = "SELECT count(*) FROM frontdesk_deliveries WHERE state = 'pending'"
    while True:
        [(pending,)] = connection.execute(query).fetchall()
        if not pending or time.monotonic() > until:
            return int(pending)
        time.sleep(0.5)


def all_checks(ledger: Ledger, stored: Stored) -> list[Check]:
    emails = Counter(stored.emails)
    return [
        *_writes(ledger, stored),
        _broadcasts(ledger, stored),
        *_broadcast_emails(ledger, stored, emails),
        _transactional_emails(ledger, stored),
        _limit("Wrong passwords", ledger, ledger.guesses, GUESSES, tried=400),
        _limit("Password resets", ledger, ledger.resets, RESETS, tried=200),
        _revoked(ledger, stored),
        *_failures(ledger),
        Check("Unhandled errors in the logs", f"{stored.unhandled}", not stored.unhandled),
    ]


def _writes(ledger: Ledger, stored: Stored) -> Iterator[Check]:
    lost = set(ledger.tasks) - stored.tasks
    yield _acknowledged("tasks", len(ledger.tasks), len(lost))
    missing = set(ledger.accounts) - stored.accounts.keys()
    yield _acknowledged("registrations", len(ledger.accounts), len(missing))
    changed = [email for email, phone in ledger.phones.items() if stored.accounts[email] != phone]
    yield _acknowledged("account updates", len(ledger.phones), len(changed))
    yield _acknowledged("marks as read", len(ledger.marks), len(ledger.marks - stored.read))


def _acknowledged(what: str, count: int, lost: int) -> Check:
    return Check(f"Acknowledged {what}", f"{count:,}, lost {lost}", count > 0 and not lost)


def _broadcasts(ledger: Ledger, stored: Stored) -> Check:
    """An acknowledged broadcast is in all inboxes once, and any other in all or in none."""
    wrong = acknowledged = rows = 0
    for broadcast in ledger.broadcasts:
        receivers = stored.inboxes.get(broadcast.title, [])
        acknowledged += broadcast.status == 201
        rows += len(receivers)
        complete = sorted(receivers) == sorted(broadcast.receivers)
        wrong += not (complete or (not receivers and broadcast.status != 201))
    found = f"{acknowledged} with {rows:,} inbox rows, incomplete or repeated {wrong}"
    return Check("Acknowledged broadcasts", found, acknowledged > 0 and not wrong)


def _broadcast_emails(
    ledger: Ledger, stored: Stored, emails: Counter[tuple[str, str]]
) -> Iterator[Check]:
    expected = {
        (title, stored.addresses[receiver])
        for title, receivers in stored.inboxes.items()
        for receiver in receivers
    }
    lost = sum(1 for each in expected if not emails[each])
    found = f"{len(expected):,}, not delivered {lost}, still queued {stored.pending}"
    yield Check("Emails of broadcasts", found, bool(expected) and not lost and not stored.pending)
    doubles = sum(emails[each] - 1 for each in expected if emails[each] > 1)
    killed = len(ledger.killed("worker"))
    found = f"{doubles} with {killed} killed workers"
    yield Check("Emails delivered twice", found, doubles <= killed)


def _transactional_emails(ledger: Ledger, stored: Stored) -> Check:
    """These emails are kept in memory: a killed application server loses those it has not sent."""
    titles = stored.inboxes.keys()
    delivered = Counter(to for subject, to in stored.emails if subject not in titles)
    killed = ledger.killed("application server")
    promised: Counter[str] = Counter()
    excused: Counter[str] = Counter()
    for email, at in ledger.promised:
        promised[email] += 1
        if any(kill.at - IN_MEMORY_SECONDS <= at <= kill.at + BEFORE for kill in killed):
            excused[email] += 1
    missing = {email: count - delivered[email] for email, count in promised.items()}
    lost = sum(count for count in missing.values() if count > 0)
    wrong = sum(1 for email, count in missing.items() if count > excused[email])
    found = f"{promised.total():,}, lost {lost} with {len(killed)} killed application servers"
    return Check("Emails of registrations and resets", found, promised.total() > 0 and not wrong)


def _limit(
    title: str, ledger: Ledger, found: dict[str, Attempts], limit: int, *, tried: int
) -> Check:
    """Exactly the limit; less if an attempt failed, and at most twice the limit if the Redis master
    was lost."""
    exact = highest = wrong = 0
    for attempts in found.values():
        count = attempts.statuses.count(tried)
        highest = max(highest, count)
        lost_master = any(kill.until >= attempts.at for kill in ledger.killed("Redis master"))
        failed = any(status not in (tried, 429) for status in attempts.statuses)
        exact += count == limit
        if lost_master:
            wrong += count > 2 * limit
        else:
            wrong += count > limit or (count < limit and not failed)
    text = f"{len(found)} accounts, exactly {limit} for {exact}, at most {highest}, wrong {wrong}"
    return Check(f"Rate limit: {title.lower()}", text, bool(found) and not wrong)


def _revoked(ledger: Ledger, stored: Stored) -> Check:
    accepted = stored.revoked.total() - stored.revoked[401]
    found = f"{stored.revoked.total()}, accepted {accepted}"
    return Check("Revoked tokens", found, stored.revoked.total() > 0 and not accepted)


def _failures(ledger: Ledger) -> Iterator[Check]:
    unexpected = {
        f"{kind} {status}": count
        for kind in ALLOWED
        for status, count in ledger.statuses(kind).items()
        if status not in ALLOWED[kind] | {NO_RESPONSE}
    }
    total = len(ledger.entries)
    yield Check("Unexpected responses", f"{unexpected or 0} of {total:,} requests", not unexpected)
    no_response = [entry for entry in ledger.entries if entry.status == NO_RESPONSE]
    outside = _outside(no_response, ledger.killed("nginx"))
    yield Check(
        "Requests without a response",
        f"{len(no_response)}, without a killed nginx {outside}",
        not outside,
    )
    failed = [entry for entry in ledger.entries if entry.status == 503]
    outside = _outside(failed, ledger.kills)
    yield Check(
        "Requests with 503 and Retry-After",
        f"{len(failed)} ({len(failed) / max(1, total):.1%}), without a kill {outside}",
        not outside,
    )


def _outside(entries: list[Entry], kills: list[Kill]) -> int:
    """Return the number of requests that did not overlap with the time of a kill."""
    return sum(
        1
        for entry in entries
        if not any(
            entry.at <= kill.until + AFTER and entry.at + entry.seconds >= kill.at - BEFORE
            for kill in kills
        )
    )
