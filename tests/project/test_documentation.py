from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import app as flask_frontdesk
from app import blueprints
from scripts import hooks, records
from scripts.snippets import ROOT, pages, rewritten

PAGES = [page.relative_to(ROOT) for page in pages()]
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_code_in_a_page_is_that_of_its_file(page: Path) -> None:
    text = (ROOT / page).read_text()
    assert rewritten(text) == text, "run `make snippets`"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_links_to_files_that_are_there(page: Path) -> None:
    links = _LINK.findall((ROOT / page).read_text())
    assert [link for link in links if not (ROOT / page.parent / link).exists()] == []


@pytest.mark.parametrize("page", list(hooks.pages()), ids=lambda page: page.file)
def test_a_hook_and_an_event_have_the_page_that_the_code_says(page: hooks.Page) -> None:
    path = hooks.FOLDER / page.file
    assert hooks.rewritten(path, page) == path.read_text(), "run `make hooks`"


def test_the_list_of_hooks_and_events_is_that_of_the_code() -> None:
    text = (hooks.FOLDER / "README.md").read_text()
    assert hooks.index(text) == text, "run `make hooks`"
    assert "(notify.md)" in text


def test_the_page_on_records_lists_what_the_catalogue_does() -> None:
    text = records.PAGE.read_text()
    assert records.rewritten(text) == text, "run `make records`"
    assert "`login.succeeded`" in text


def test_every_name_of_the_package_is_in_the_reference() -> None:
    told = (ROOT / "docs" / "python.md").read_text()
    names: list[str] = vars(flask_frontdesk)["__all__"]
    assert [name for name in names if not re.search(rf"\b{name}\b", told)] == []


def first_cells(heading: str) -> list[str]:
    """The names in the first column of the table that follows a heading of docs/hosts.md."""
    section = (ROOT / "docs" / "hosts.md").read_text().partition(f"{heading}\n")[2]
    table = section.partition("|---|")[2].partition("\n\n")[0]
    return [
        name for row in table.splitlines()[1:] for name in re.findall(r"`(.+?)`", row.split("|")[1])
    ]


def test_extras_table_lists_the_extras_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [f"[{name}]" for name in project["optional-dependencies"]]
    assert sorted(first_cells("### Extras")) == sorted(extras)


def test_mounting_table_lists_all_blueprints() -> None:
    assert sorted(first_cells("## Mounting")) == sorted(blueprints.__all__)
