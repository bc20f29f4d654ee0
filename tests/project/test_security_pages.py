"""The pages on security say what the code does, and name tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.core.errors import Problem
from app.extension.actions import DECLARED
from scripts.records import log_events

from ..rigs.documented_problems import subclasses
from ..rigs.servers import ROOT

SECURITY = ROOT / "docs" / "security"
STANDARD = ROOT / "docs" / "asvs.md"
PAGES = [STANDARD, *sorted(SECURITY.glob("*.md"))]


def refused_in_the_code() -> set[str]:
    """The events by which problems are logged."""
    texts = (path.read_text() for path in (ROOT / "app").rglob("*.py"))
    noted = {event for text in texts for event in re.findall(r'"event":\s*"(\w+)"', text)}
    kinds = (kind for kind in subclasses(Problem) if kind.__module__.startswith("app."))
    return noted | {kind.security_event for kind in kinds} - {""}


def test_every_event_of_a_rejected_request_has_an_action_and_the_other_way_round() -> None:
    assert refused_in_the_code() == {
        event for action in DECLARED for event in action.rejection_events
    }


def test_the_page_lists_the_words_of_the_code() -> None:
    page = (SECURITY / "logging.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|[^|]*\|$", page, re.MULTILINE)
    assert {word: text.strip() for word, text in rows} == dict(log_events())


# Of what is not offered here, and of another's fault, the security log does not tell.
UNTOLD = {"IdpDisabled", "ProviderUnavailable"}


def test_whoever_is_refused_at_the_door_is_told_of() -> None:
    doors = ("app.auth.errors", "app.registration.schemas")
    kinds = [kind for kind in subclasses(Problem) if kind.__module__ in doors]
    assert {kind.__name__ for kind in kinds if not kind.security_event} == UNTOLD


def known_tests() -> set[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    texts = (path.read_text() for path in files if "node_modules" not in path.parts)
    return {name for text in texts for name in re.findall(r"^ *def (test_\w+)", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_tests_that_are_there(page: Path) -> None:
    named = set(re.findall(r"`(test_\w+)`", page.read_text()))
    assert named
    assert named - known_tests() == set()


def requirements() -> list[tuple[str, str, str]]:
    """Number, level and word of each that applies."""
    row = re.compile(r"^\| (\d+\.\d+\.\d+) \| ([12]) \| ([a-z ]+) \|", re.MULTILINE)
    return row.findall(STANDARD.read_text())


def test_no_requirement_stands_twice() -> None:
    page = STANDARD.read_text()
    passed_over = page.partition("## What does not apply")[2]
    numbers = [number for number, _, _ in requirements()]
    numbers += re.findall(r"\d+\.\d+\.\d+", passed_over)
    # Those of levels 1 and 2 in version 5.0.0.
    assert len(numbers) == len(set(numbers)) == 70 + 183


def test_the_sums_are_those_of_the_rows() -> None:
    words = ("met", "operator", "contract", "not yet")
    assert {word for _, _, word in requirements()} <= set(words)
    for level in "12":
        found = [word for _, its, word in requirements() if its == level]
        each = [found.count(word) for word in words]
        shares = [sum(each[:2]), sum(each[:3])]
        sums = [len(found), *each, *(f"{round(100 * share / len(found))} %" for share in shares)]
        assert f"| {level} | {' | '.join(map(str, sums))} |" in STANDARD.read_text()
