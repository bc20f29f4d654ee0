"""Somebody of each kind who goes from page to page."""

from __future__ import annotations

from flask import url_for
from playwright.sync_api import Browser

from ..rigs.console.cells import Cell
from ..rigs.console.routes import page_routes
from ..rigs.console.site import Visitor
from ..rigs.console.world import World, values_of
from .pages import NO_PAGES, PAGES, Page, nothing


def _said(view: str) -> str:
    return view.removesuffix("_page").replace("_", "-")


ROUTES = {route.name: route for route in page_routes()}
NAMED = {page.view for page in PAGES} | NO_PAGES.keys()
_FOUND = (Page(_said(name), name) for name in ROUTES.keys() - NAMED)
LOOKED_AT = sorted((*PAGES, *_FOUND), key=lambda page: page.name)


class Walk:
    """Somebody of each kind, with script and without, who stay until the last page."""

    def __init__(self, browser: Browser, world: World) -> None:
        self.browser, self.world = browser, world
        self._here: dict[tuple[str, bool], Visitor] = {}

    def visitor(self, page: Page, cell: Cell) -> Visitor:
        """One who was here before, unless the page needs something of its own."""
        who = page.who or ROUTES[page.view].who
        if page.needs is not nothing:
            visitor = self._come(who, cell)
            page.needs(self.world, visitor)
            return visitor
        if (who, cell.script) not in self._here:
            self._here[who, cell.script] = self._come(who, cell)
        visitor = self._here[who, cell.script]
        visitor.meet(cell)
        return visitor

    def _come(self, who: str, cell: Cell) -> Visitor:
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
