"""The checks of the soak test (`make soak`) find each kind of loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from ..rigs.soak.checks import Stored, all_checks
from ..rigs.soak.client import address_of
from ..rigs.soak.ledger import Attempts, Broadcast, Entry, Kill, Ledger
from ..rigs.traffic import NO_RESPONSE, NO_RETRY_AFTER

Change = Callable[[Ledger, Stored], object]
WORKER, WEB = Kill("worker 1", 10, 12), Kill("application server 1", 20, 24)
MASTER, NGINX = Kill("Redis master", 30, 33), Kill("nginx", 50, 51)


def clean_run() -> tuple[Ledger, Stored]:
    """Return a run without any loss."""
    attempts = [400] * 5 + [429] * 3
    ledger = Ledger(
        entries=[Entry("task", 201, 5, 0.1), Entry("task", 503, 21, 0.1)],
        kills=[WORKER, WEB, MASTER, NGINX],
        tasks=["task 1"],
        accounts=["ada@example.com"],
        phones={"ada@example.com": "+12025550001"},
        marks={(1, 7)},
        revoked=["token"],
        broadcasts=[Broadcast("News", frozenset({7}), 201), Broadcast("Lost", frozenset({7}), 503)],
        guesses={"guessed@example.com": Attempts(40, attempts)},
        resets={"ada@example.com": Attempts(40, [200] * 5 + [429])},
        promised=[("ada@example.com", 1.0)],
    )
    stored = Stored(
        tasks={"task 1"},
        accounts={"ada@example.com": "+12025550001", "bob@example.com": None},
        read={(1, 7)},
        inboxes={"News": [7]},
        addresses={7: "bob@example.com"},
        emails=[("News", "bob@example.com"), ("Verify your email address", "ada@example.com")],
        revoked=Counter({401: 1}),
    )
    return ledger, stored


def failed_checks(change: Change) -> set[str]:
    ledger, stored = clean_run()
    change(ledger, stored)
    return {check.title for check in all_checks(ledger, stored) if not check.passed}


LOSSES: dict[str, Change] = {
    "Acknowledged tasks": lambda _, stored: stored.tasks.clear(),
    "Acknowledged registrations": lambda ledger, _: ledger.accounts.append("eve@example.com"),
    "Acknowledged account updates": lambda _, stored: stored.accounts.update(
        {"ada@example.com": None}
    ),
    "Acknowledged marks as read": lambda _, stored: stored.read.clear(),
    "Acknowledged broadcasts": lambda _, stored: stored.inboxes["News"].append(7),
    "Emails of broadcasts": lambda _, stored: stored.emails.pop(0),
    "Emails delivered twice": lambda _, stored: stored.emails.extend([stored.emails[0]] * 2),
    "Emails of registrations and resets": lambda _, stored: stored.emails.pop(),
    "Rate limit: wrong passwords": lambda ledger, _: ledger.guesses.update(
        {"x@example.com": Attempts(40, [400] * 6)}
    ),
    "Rate limit: password resets": lambda ledger, _: ledger.resets.update(
        {"x@example.com": Attempts(40, [200] * 4 + [429])}
    ),
    "Revoked tokens": lambda _, stored: stored.revoked.update({200: 1}),
    "Unexpected responses": lambda ledger, _: ledger.entries.append(
        Entry("task", NO_RETRY_AFTER, 21, 0.1)
    ),
    "Requests without a response": lambda ledger, _: ledger.entries.append(
        Entry("task", NO_RESPONSE, 21, 0.1)
    ),
    "Requests with 503 and Retry-After": lambda ledger, _: ledger.entries.append(
        Entry("task", 503, 44, 0.1)
    ),
    "Unhandled errors in the logs": lambda _, stored: setattr(stored, "unhandled", 1),
}


def test_run_without_losses_passes_every_check() -> None:
    assert failed_checks(lambda *_: None) == set()
    assert {check.title for check in all_checks(*clean_run())} == set(LOSSES)


@pytest.mark.parametrize("title", LOSSES)
def test_check_finds_a_loss(title: str) -> None:
    assert failed_checks(LOSSES[title]) == {title}


ALLOWED: dict[str, Change] = {
    "one email twice for a killed worker": lambda _, stored: stored.emails.append(stored.emails[0]),
    "an email in the memory of a killed application server": lambda ledger, _: (
        ledger.promised.append(("ada@example.com", WEB.at - 1))
    ),
    "one more limit after the loss of the Redis master": lambda ledger, _: ledger.guesses.update(
        {"x@example.com": Attempts(MASTER.at - 1, [400] * 10)}
    ),
    "fewer attempts where one failed": lambda ledger, _: ledger.guesses.update(
        {"x@example.com": Attempts(40, [400] * 4 + [503, 429])}
    ),
    "no response from a killed nginx": lambda ledger, _: ledger.entries.append(
        Entry("task", NO_RESPONSE, NGINX.at, 0.1)
    ),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_check_allows_what_the_documentation_allows(case: str) -> None:
    assert failed_checks(ALLOWED[case]) == set()


def test_visitors_have_different_loopback_addresses() -> None:
    addresses = {address_of(number) for number in range(60_000)}
    assert len(addresses) == 60_000
    assert all(address.startswith("127.") for address in addresses)
