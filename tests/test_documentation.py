from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.extension import Frontdesk
from scripts.snippets import ROOT, pages, rewritten

PAGES = [page.relative_to(ROOT) for page in pages()]
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")
EVENTS = re.compile(r"^[A-Z_]+ = \"([a-z]+(?:-[a-z]+)+)\"$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_code_in_a_page_is_that_of_its_file(page: Path) -> None:
    text = (ROOT / page).read_text()
    assert rewritten(text) == text, "run `make snippets`"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_links_to_files_that_are_there(page: Path) -> None:
    links = _LINK.findall((ROOT / page).read_text())
    assert [link for link in links if not (ROOT / page.parent / link).exists()] == []


def test_every_decision_of_a_host_has_a_page() -> None:
    hooks = (
        "claims",
        "payload",
        "recovery_mail",
        "workspace_resolver",
        "receivers",
        "channel",
        "notify",
    )
    assert all(hasattr(Frontdesk, name) for name in hooks)
    index = (ROOT / "docs" / "hooks" / "README.md").read_text()
    for name in hooks:
        assert f"({name.replace('_', '-')}.md)" in index, name
