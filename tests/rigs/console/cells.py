"""Variants of a page: small or wide screen, with or without scripts, light or dark theme."""

from __future__ import annotations

import os
from itertools import product
from typing import Literal, NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserContext, ViewportSize

Theme = Literal["light", "dark"]
_HEIGHTS = {360: 740, 1280: 800}


class Cell(NamedTuple):
    width: int
    script: bool
    theme: Theme
    locale: str = "en-GB"

    def __str__(self) -> str:
        return f"{self.window}-{self.theme}"

    @property
    def window(self) -> str:
        return f"{self.width}-{'script' if self.script else 'plain'}"

    @property
    def size(self) -> ViewportSize:
        return {"width": self.width, "height": _HEIGHTS[self.width]}

    @property
    def in_the_other_theme(self) -> Cell:
        return self._replace(theme="light" if self.theme == "dark" else "dark")

    def context(self, browser: Browser) -> BrowserContext:
        """Create a browser context: in Berlin's time zone, without animations."""
        return browser.new_context(
            viewport=self.size,
            java_script_enabled=self.script,
            color_scheme=self.theme,
            reduced_motion="reduce",
            locale=self.locale,
            timezone_id="Europe/Berlin",
        )


_THEMES: tuple[Theme, ...] = ("light", "dark")
EVERY_CELL = tuple(Cell(*each) for each in product((360, 1280), (True, False), _THEMES))
WIDE, SMALL = Cell(1280, True, "light"), Cell(360, True, "dark")
# For slow tests: each width, each theme, and one without scripts.
CLOSELY = (WIDE, SMALL, Cell(360, False, "light"))
# Every page is loaded in these variants and then shown in the other theme. The variant in `CLOSELY`
# comes last, since its tests change the page.
LOADED = (WIDE, Cell(1280, False, "light"), Cell(360, True, "light"), Cell(360, False, "dark"))
# The variant with the most features, and the one with the fewest.
USUAL = (WIDE, Cell(360, False, "dark"))
# With this variable, all scenarios run in every variant.
_ALL = os.environ.get("FRONTDESK_EVERY_CELL") == "1"


def in_cells(*cells: Cell) -> pytest.MarkDecorator:
    """Run a test in these variants, through the fixture `cell`: `@in_cells(WIDE)`."""
    return pytest.mark.parametrize("cell", cells, indirect=True, ids=str)


def journey_cells() -> tuple[Cell, ...]:
    return EVERY_CELL if _ALL else USUAL
