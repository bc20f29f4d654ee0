"""Every page of the console, on a small screen and a wide one, with script and without, in light
and dark: it is there, it is whole, it harms nobody, and its picture is kept (build/screens).

    pytest tests/console/test_pages.py -k "inbox and 360"
"""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from ..rigs.axe import grave_violations
from ..rigs.console.cells import CLOSELY, EVERY_CELL, WIDE, Cell, in_cells
from ..rigs.console.faults import listed
from ..rigs.console.keyboard import tab_through
from ..rigs.console.structure import faults_of
from ..rigs.console.wire import FIRST_PAGE, FOLLOWING_PAGE, weighed
from .pages import Page
from .walk import LOOKED_AT, NAMED, ROUTES, Walk

EVERY_PAGE = pytest.mark.parametrize("looked_at", LOOKED_AT, ids=[page.name for page in LOOKED_AT])


@EVERY_PAGE
@in_cells(*EVERY_CELL)
def test_a_page_is_as_it_should_be(walk: Walk, looked_at: Page, cell: Cell) -> None:
    visitor, path = walk.visitor(looked_at, cell), walk.path(looked_at)
    # What a test before has failed by is not this page's.
    visitor.faults.take()
    if looked_at.status >= 400:
        visitor.faults.expect(looked_at.status)
    answer = visitor.open(path)
    assert answer.status == looked_at.status, visitor.page.locator("h1").all_text_contents()
    assert urlsplit(visitor.page.url).path == urlsplit(path).path, "it leads on"
    visitor.settle()
    found = faults_of(visitor.page, walk.world.site.app)
    visitor.picture(looked_at.name)
    if cell in CLOSELY:
        found += grave_violations(visitor.page) if cell.script else []
        found += tab_through(visitor.page)
    found += visitor.faults.take()
    assert not found, listed(found)


@EVERY_PAGE
@in_cells(WIDE)
def test_a_page_is_light(walk: Walk, looked_at: Page, cell: Cell) -> None:
    """For who has never been here, and for who goes on."""
    visitor, path = walk.visitor(looked_at, cell, anew=True), walk.path(looked_at)
    with weighed(visitor.page) as first:
        visitor.open(path)
    with weighed(visitor.page) as again:
        visitor.open(path)
    visitor.leave()
    print(f"{looked_at.name}: {first}\nand again {again}")
    assert first.total <= FIRST_PAGE, first
    assert again.total <= FOLLOWING_PAGE, again


def test_no_line_is_about_a_page_that_is_gone() -> None:
    assert NAMED - ROUTES.keys() == set()


def test_no_two_pictures_have_one_name() -> None:
    names = [page.name for page in LOOKED_AT]
    assert sorted(names) == sorted(set(names))
