"""How a page is met: on a small screen or a wide one, with script or without, in light or dark."""

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
        """A browser of somebody's own, in Berlin, to whom nothing needs to move."""
        return browser.new_context(
            viewport=self.size,
            java_script_enabled=self.script,
            color_scheme=self.theme,
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="Europe/Berlin",
        )


_THEMES: tuple[Theme, ...] = ("light", "dark")
EVERY_CELL = tuple(Cell(*each) for each in product((360, 1280), (True, False), _THEMES))
WIDE, SMALL = Cell(1280, True, "light"), Cell(360, True, "dark")
# What takes its time is looked at in these: each width, each theme, and one without script.
CLOSELY = (WIDE, SMALL, Cell(360, False, "light"))
# Every page is loaded in these, and then seen in the other theme; that one is last which is looked
# at closely, since it leaves its marks on a page.
LOADED = (WIDE, Cell(1280, False, "light"), Cell(360, True, "light"), Cell(360, False, "dark"))
# At its best and at its barest.
USUAL = (WIDE, Cell(360, False, "dark"))
# With the variable, every journey is made in each cell, as the pictures are.
_ALL = os.environ.get("FRONTDESK_EVERY_CELL") == "1"


def in_cells(*cells: Cell) -> pytest.MarkDecorator:
    """The fixture `cell`, and all that stands on it: `@in_cells(WIDE)`."""
    return pytest.mark.parametrize("cell", cells, indirect=True, ids=str)


def journey_cells() -> tuple[Cell, ...]:
    return EVERY_CELL if _ALL else USUAL
