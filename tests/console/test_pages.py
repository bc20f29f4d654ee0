"""Every page of the console on small and wide screens, with and without JavaScript, in both themes.

Screenshots are stored in the folder that FRONTDESK_SCREENS names.

    FRONTDESK_SCREENS=build/screens pytest tests/console/test_pages.py -k "inbox and 360"
"""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from ..rigs.axe import serious_violations
from ..rigs.console.cells import CLOSELY, LOADED, WIDE, Cell
from ..rigs.console.faults import as_lines
from ..rigs.console.keyboard import tab_through
from ..rigs.console.site import Visitor
from ..rigs.console.structure import structure_errors
from ..rigs.console.wire import DESIGN_PAGE, FIRST_PAGE, FOLLOWING_PAGE, forget_files, weighed
from .page_visits import ALL_PAGES, NAMED, ROUTES, PageVisits
from .pages import Page

EVERY_PAGE = pytest.mark.parametrize(
    "listed_page", ALL_PAGES, ids=[page.name for page in ALL_PAGES]
)


@EVERY_PAGE
@pytest.mark.parametrize("cell", LOADED, indirect=True, ids=[cell.window for cell in LOADED])
def test_page_passes_all_checks(visits: PageVisits, listed_page: Page, cell: Cell) -> None:
    """The other theme needs no reload, because only style sheets depend on it."""
    visitor = visits.visitor(listed_page, cell)
    # Discard the errors of a previous test.
    visitor.faults.take()
    if cell == WIDE:
        found = check_both_visits(visits, visitor, listed_page)
    else:
        arrive(visits, visitor, listed_page)
        found = errors_of(visits, visitor, listed_page)
        visitor.meet(cell.in_the_other_theme)
        found += errors_of(visits, visitor, listed_page)
    assert not found, as_lines(found)


def check_both_visits(visits: PageVisits, visitor: Visitor, listed_page: Page) -> list[str]:
    """Check the first visit in light mode and a repeated visit in dark mode."""
    forget_files(visitor.page)
    with weighed(visitor.page) as first:
        arrive(visits, visitor, listed_page)
        found = errors_of(visits, visitor, listed_page)
    visitor.meet(visitor.cell.in_the_other_theme)
    with weighed(visitor.page) as again:
        arrive(visits, visitor, listed_page)
        found += errors_of(visits, visitor, listed_page)
    print(f"{listed_page.name}: {first}\nand again {again}")
    most = DESIGN_PAGE if listed_page.view == "design" else FIRST_PAGE
    limits = ((first, most), (again, FOLLOWING_PAGE))
    return [*found, *(f"is too heavy: {weight}" for weight, most in limits if weight.total > most)]


def arrive(visits: PageVisits, visitor: Visitor, listed_page: Page) -> None:
    path = visits.path(listed_page)
    if listed_page.status >= 400:
        visitor.faults.expect(listed_page.status)
    answer = visitor.open(path)
    assert answer.status == listed_page.status, visitor.page.locator("h1").all_text_contents()
    assert urlsplit(visitor.page.url).path == urlsplit(path).path, "it leads on"


def errors_of(visits: PageVisits, visitor: Visitor, listed_page: Page) -> list[str]:
    visitor.settle()
    found = structure_errors(visitor.page, visits.world.site.app)
    visitor.picture(listed_page.name)
    if visitor.cell in CLOSELY:
        found += serious_violations(visitor.page) if visitor.cell.script else []
        found += tab_through(visitor.page)
    found += visitor.faults.take()
    return [f"in {visitor.cell}: {fault}" for fault in found]


def test_every_listed_page_exists() -> None:
    assert NAMED - ROUTES.keys() == set()


def test_screenshot_names_are_unique() -> None:
    names = [page.name for page in ALL_PAGES]
    assert sorted(names) == sorted(set(names))
