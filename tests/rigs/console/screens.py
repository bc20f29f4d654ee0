"""Pictures of pages, kept for people to look at."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page

from ..servers import ROOT
from .cells import Cell


def folder() -> Path:
    return Path(os.environ.get("FRONTDESK_SCREENS") or ROOT / "build" / "screens")


def take(page: Page, name: str, cell: Cell) -> Path:
    """The whole page, however long it is."""
    path = folder() / f"{name}-{cell}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    # To hide the caret, it would be given a style in its place, which the page's policy refuses as
    # soon as htmx carries it over.
    page.screenshot(path=path, full_page=True, animations="disabled", caret="initial")
    return path
