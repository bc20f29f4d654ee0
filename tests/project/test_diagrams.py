"""The diagrams of the documentation: described, readable in both colour schemes, and true."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ..rigs.servers import ROOT

DOCS = ROOT / "docs"
FOLDER = DOCS / "_static" / "diagrams"
DIAGRAMS = sorted(FOLDER.glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


def texts(diagram: str) -> list[str]:
    root = ElementTree.parse(FOLDER / f"{diagram}.svg").getroot()
    return [each.text or "" for each in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: path.stem)
def test_diagram_is_described_and_has_dark_colours(path: Path) -> None:
    root = ElementTree.parse(path).getroot()
    assert root.get("role") == "img"
    names = (root.get("aria-labelledby") or "").split()
    described = {each.get("id"): each.text or "" for each in root if each.get("id")}
    assert [bool(described[name]) for name in names] == [True, True]
    assert "prefers-color-scheme: dark" in path.read_text()
    # Readable on a phone of 390 pixels without scrolling.
    assert int(root.get("width") or 0) <= 440


@pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: path.stem)
def test_page_shows_the_diagram_with_a_description(path: Path) -> None:
    pages = "\n".join(page.read_text() for page in DOCS.glob("*.md"))
    described = re.findall(rf"!\[([^\]]*)\]\(_static/diagrams/{path.name}\)", pages)
    assert described
    assert all(len(each.split()) > 15 for each in described)


def test_data_model_has_all_tables() -> None:
    """Another test holds the list of docs/tables.md equal to the code."""
    listed = set(re.findall(r"^\| `frontdesk_(\w+)` \|", (DOCS / "tables.md").read_text(), re.M))
    assert len(listed) > 20
    words = set(re.findall(r"[a-z_]+", " ".join(texts("data-model"))))
    assert listed - words == set()


def test_steps_of_the_sign_in_are_those_of_its_page() -> None:
    steps = [text for text in texts("sign-in") if re.match(r"\d ", text)]
    assert [int(step[0]) for step in steps] == list(range(1, len(steps) + 1))
    page = (DOCS / "how-sign-in-works.md").read_text()
    stages = page.partition("## The stages")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\d\. \*\*", stages, re.MULTILINE)) == len(steps)
