"""The security pages agree with the code and name existing tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app import blueprints
from app.core.errors import Problem
from app.extension.actions import DECLARED
from scripts.audit_log import log_events

from ..rigs.documented_problems import subclasses
from ..rigs.servers import ROOT

SECURITY = ROOT / "docs" / "security"
STANDARD = ROOT / "docs" / "asvs.md"
PAGES = [STANDARD, *sorted(SECURITY.glob("*.md"))]


def rejection_events() -> set[str]:
    """Return the security events of rejected requests."""
    # The problems of a feature exist when its blueprint is imported.
    for name in blueprints.__all__:
        getattr(blueprints, name)
    texts = (path.read_text() for path in (ROOT / "app").rglob("*.py"))
    logged = {event for text in texts for event in re.findall(r'"event":\s*"(\w+)"', text)}
    kinds = (kind for kind in subclasses(Problem) if kind.__module__.startswith("app."))
    return logged | {kind.security_event for kind in kinds} - {""}


def test_rejection_events_of_the_code_equal_those_of_the_actions() -> None:
    assert rejection_events() == {event for action in DECLARED for event in action.rejection_events}


def test_logging_page_lists_every_event() -> None:
    page = (SECURITY / "logging.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|[^|]*\|$", page, re.MULTILINE)
    assert {word: text.strip() for word, text in rows} == dict(log_events())


# Problems without a security event: the feature is disabled, or another service failed.
WITHOUT_EVENT = {"IdpDisabled", "ProviderNotFound", "ProviderUnavailable"}


def test_every_rejected_sign_in_has_a_security_event() -> None:
    modules = ("app.auth.errors", "app.registration.schemas")
    kinds = [kind for kind in subclasses(Problem) if kind.__module__ in modules]
    assert {kind.__name__ for kind in kinds if not kind.security_event} == WITHOUT_EVENT


def known_tests() -> set[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    texts = (path.read_text() for path in files if "node_modules" not in path.parts)
    return {name for text in texts for name in re.findall(r"^ *def (test_\w+)", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_names_existing_tests(page: Path) -> None:
    named = set(re.findall(r"`(test_\w+)`", page.read_text()))
    assert named
    assert named - known_tests() == set()


def requirements() -> list[tuple[str, str, str]]:
    """Return the number, level and verdict of each requirement that applies."""
    row = re.compile(r"^\| (\d+\.\d+\.\d+) \| ([12]) \| ([a-z ]+) \|", re.MULTILINE)
    return row.findall(STANDARD.read_text())


def test_every_requirement_is_listed_once() -> None:
    page = STANDARD.read_text()
    not_applicable = page.partition("## Requirements that do not apply")[2]
    numbers = [number for number, _, _ in requirements()]
    numbers += re.findall(r"\d+\.\d+\.\d+", not_applicable)
    # The requirements of levels 1 and 2 in version 5.0.0.
    assert len(numbers) == len(set(numbers)) == 70 + 183


def test_totals_equal_the_rows() -> None:
    words = ("met", "operator", "contract", "not yet")
    assert {word for _, _, word in requirements()} <= set(words)
    for level in "12":
        found = [word for _, its, word in requirements() if its == level]
        each = [found.count(word) for word in words]
        shares = [sum(each[:2]), sum(each[:3])]
        sums = [len(found), *each, *(f"{round(100 * share / len(found))} %" for share in shares)]
        assert f"| {level} | {' | '.join(map(str, sums))} |" in STANDARD.read_text()
