"""Visitors of each role who open the listed pages."""

from __future__ import annotations

from flask import url_for
from playwright.sync_api import Browser

from ..rigs.console.cells import Cell
from ..rigs.console.routes import page_routes
from ..rigs.console.site import Visitor
from ..rigs.console.world import World, values_of
from .pages import NO_PAGES, PAGES, Page, no_preparation


def _name(view: str) -> str:
    return view.removesuffix("_page").replace("_", "-")


ROUTES = {route.name: route for route in page_routes()}
NAMED = {page.view for page in PAGES} | NO_PAGES.keys()
_OTHERS = (Page(_name(name), name) for name in ROUTES.keys() - NAMED)
ALL_PAGES = sorted((*PAGES, *_OTHERS), key=lambda page: page.name)


class PageVisits:
    """Visitors of each role, with and without JavaScript, who stay until the last page."""

    def __init__(self, browser: Browser, world: World) -> None:
        self.browser, self.world = browser, world
        self._visitors: dict[tuple[str, bool, str], Visitor] = {}

    def visitor(self, page: Page, cell: Cell) -> Visitor:
        """Return the visitor for a page: a new one if the page needs preparation."""
        who = page.who or ROUTES[page.view].who
        if page.needs is not no_preparation:
            visitor = self._add(who, cell)
            page.needs(self.world, visitor)
            return visitor
        key = who, cell.script, cell.locale
        if key not in self._visitors:
            self._visitors[key] = self._add(who, cell)
        visitor = self._visitors[key]
        visitor.meet(cell)
        return visitor

    def _add(self, who: str, cell: Cell) -> Visitor:
        visitor = Visitor(self.world.site, cell.context(self.browser), cell)
        if who != "visitor":
            visitor.sign_in(self.world.people[who])
        return visitor

    def path(self, page: Page) -> str:
        route = ROUTES[page.view]
        with self.world.site.app.test_request_context():
            [rule] = self.world.site.app.url_map.iter_rules(route.endpoint)
            values = {**values_of(self.world, rule.arguments), **page.values(self.world)}
            return url_for(route.endpoint, **values, **page.query(self.world))
