"""Every page of the console, on a small screen and a wide one, with script and without, in light
and dark: it is there, it is whole, it harms nobody, and its picture is kept (build/screens).

    pytest tests/console/test_pages.py -k "inbox and 360"
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
from ..rigs.console.wire import FIRST_PAGE, FOLLOWING_PAGE, forget_files, weighed
from .pages import Page
from .walk import LOOKED_AT, NAMED, ROUTES, Walk

EVERY_PAGE = pytest.mark.parametrize("looked_at", LOOKED_AT, ids=[page.name for page in LOOKED_AT])


@EVERY_PAGE
@pytest.mark.parametrize("cell", LOADED, indirect=True, ids=[cell.window for cell in LOADED])
def test_a_page_is_as_it_should_be(walk: Walk, looked_at: Page, cell: Cell) -> None:
    """In the other theme too: nothing but style sheets knows of it, and they follow at once."""
    visitor = walk.visitor(looked_at, cell)
    # What a test before has failed by is not this page's.
    visitor.faults.take()
    if cell == WIDE:
        found = light_and_whole(walk, visitor, looked_at)
    else:
        arrive(walk, visitor, looked_at)
        found = faults_here(walk, visitor, looked_at)
        visitor.meet(cell.in_the_other_theme)
        found += faults_here(walk, visitor, looked_at)
    assert not found, as_lines(found)


def light_and_whole(walk: Walk, visitor: Visitor, looked_at: Page) -> list[str]:
    """For who has never been here, and for who comes again, when it is dark."""
    forget_files(visitor.page)
    with weighed(visitor.page) as first:
        arrive(walk, visitor, looked_at)
        found = faults_here(walk, visitor, looked_at)
    visitor.meet(visitor.cell.in_the_other_theme)
    with weighed(visitor.page) as again:
        arrive(walk, visitor, looked_at)
        found += faults_here(walk, visitor, looked_at)
    print(f"{looked_at.name}: {first}\nand again {again}")
    limits = ((first, FIRST_PAGE), (again, FOLLOWING_PAGE))
    return [*found, *(f"is too heavy: {weight}" for weight, most in limits if weight.total > most)]


def arrive(walk: Walk, visitor: Visitor, looked_at: Page) -> None:
    path = walk.path(looked_at)
    if looked_at.status >= 400:
        visitor.faults.expect(looked_at.status)
    answer = visitor.open(path)
    assert answer.status == looked_at.status, visitor.page.locator("h1").all_text_contents()
    assert urlsplit(visitor.page.url).path == urlsplit(path).path, "it leads on"


def faults_here(walk: Walk, visitor: Visitor, looked_at: Page) -> list[str]:
    visitor.settle()
    found = structure_errors(visitor.page, walk.world.site.app)
    visitor.picture(looked_at.name)
    if visitor.cell in CLOSELY:
        found += serious_violations(visitor.page) if visitor.cell.script else []
        found += tab_through(visitor.page)
    found += visitor.faults.take()
    return [f"in {visitor.cell}: {fault}" for fault in found]


def test_no_line_is_about_a_page_that_is_gone() -> None:
    assert NAMED - ROUTES.keys() == set()


def test_no_two_pictures_have_one_name() -> None:
    names = [page.name for page in LOOKED_AT]
    assert sorted(names) == sorted(set(names))
