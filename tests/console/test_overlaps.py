"""Every page in German and Arabic, with four-digit numbers and failures: no text lies over another.

FRONTDESK_EVERY_CELL=1 pytest tests/console/test_overlaps.py -k overview
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from ..rigs.console.cells import WIDE
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
