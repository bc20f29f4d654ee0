"""Every page in German and Arabic, with four-digit numbers and failures: no text lies over another.

FRONTDESK_EVERY_CELL=1 pytest tests/console/test_overlaps.py -k overview
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from ..rigs.console.cells import SMALL, WIDE, Cell
from ..rigs.console.faults import as_lines
from ..rigs.console.overlaps import overlaps
from ..rigs.console.world import World
from .crowded_world import crowd
from .page_visits import ALL_PAGES, PageVisits
from .pages import Page
from .populated_site import populated_site

_ALL = os.environ.get("FRONTDESK_EVERY_CELL") == "1"
LANGUAGES = ("en", "de", "fr", "es", "ar") if _ALL else ("de", "ar")
EVERY_WIDTH = (320, 360, 412, 480, 560, 640, 700, 768, 900, 1024, 1280, 1920)
WIDTHS = EVERY_WIDTH if _ALL else (320, 360, 768, 1280)
_CUT = """
[...document.querySelectorAll(".person .cut")]
  .filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.textContent)
"""
_HEIGHTS = """
[...new Set([...document.querySelectorAll("tbody tr")].map((it) => Math.round(it.offsetHeight)))]
"""
_IS_WIDER = "document.documentElement.scrollWidth > innerWidth"


@pytest.fixture(scope="module")
def crowded_visits(
    browser: Browser, _migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PageVisits]:
    with populated_site(_migrated_sqlite, tmp_path_factory.mktemp("console")) as site:
        yield PageVisits(browser, crowd(World(site)))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("listed_page", ALL_PAGES, ids=[page.name for page in ALL_PAGES])
def test_no_text_lies_over_another(
    crowded_visits: PageVisits, listed_page: Page, language: str
) -> None:
    visitor = crowded_visits.visitor(listed_page, WIDE._replace(locale=language))
    assert visitor.open(crowded_visits.path(listed_page)).status == listed_page.status
    page = visitor.page
    assert page.evaluate("document.documentElement.lang") == language
    found: dict[str, list[int]] = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        wide = ["scrolls sideways"] if page.evaluate(_IS_WIDER) else []
        for error in wide + overlaps(page):
            found.setdefault(error, []).append(width)
    assert not found, as_lines(f"{error}, at {widths}" for error, widths in found.items())


@pytest.mark.parametrize(
    "name", ["accounts", "broadcasts", "inbox", "managed-workspaces", "workspace"]
)
def test_phone_shows_the_first_row_without_scrolling(crowded_visits: PageVisits, name: str) -> None:
    page = _open(crowded_visits, name, SMALL._replace(locale="de"))
    row = page.locator(".table tbody tr, .feed > li").first.bounding_box()
    assert row is not None
    assert row["y"] + row["height"] <= SMALL.size["height"]


@pytest.mark.parametrize("width", [640, 768, 900, 1280])
def test_address_is_whole_where_a_column_has_room(crowded_visits: PageVisits, width: int) -> None:
    page = _open(crowded_visits, "accounts", WIDE, "?sort=email")
    page.set_viewport_size({"width": width, "height": 800})
    assert page.locator(".person").count() == 50
    assert page.evaluate(_CUT) == []


@pytest.mark.parametrize("name", ["accounts", "broadcasts", "deliveries", "managed-workspaces"])
def test_rows_of_a_table_have_one_height(crowded_visits: PageVisits, name: str) -> None:
    page = _open(crowded_visits, name, WIDE, "?sort=email" if name == "accounts" else "")
    assert len(page.evaluate(_HEIGHTS)) == 1


def _open(visits: PageVisits, name: str, cell: Cell, query: str = "") -> Any:
    [listed] = [page for page in ALL_PAGES if page.name == name]
    visitor = visits.visitor(listed, cell)
    visitor.open(visits.path(listed) + query)
    return visitor.page
