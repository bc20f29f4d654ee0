"""Screenshots of pages, for review by developers: in the folder that FRONTDESK_SCREENS names.

Without it none is taken: they need a third of the time of the tests in Chromium.
"""

from __future__ import annotations

import os
from base64 import b64decode
from pathlib import Path

from playwright.sync_api import CDPSession, Page

from .cells import Cell

# The working directory changes later.
FOLDER = os.environ.get("FRONTDESK_SCREENS") and os.path.abspath(os.environ["FRONTDESK_SCREENS"])


def take_in_firefox(page: Page, folder: str, name: str, cell: Cell) -> None:
    """Save a screenshot of the whole page, without the styles and scripts that Playwright inserts
    for it and that the policy of the pages blocks."""
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": cell.width, "height": max(height, cell.size["height"])})
    page.screenshot(path=_path(folder, f"firefox-{name}", cell), caret="initial")
    page.set_viewport_size(cell.size)


def take(cdp: CDPSession, folder: str, name: str, cell: Cell) -> None:
    """Save a screenshot of the whole page. Animations are disabled and fonts are local, so nothing
    needs to load."""
    found = cdp.send("Page.getLayoutMetrics")
    page, window = found["cssContentSize"], found["cssLayoutViewport"]
    taken = cdp.send(
        "Page.captureScreenshot",
        {
            "format": "png",
            # Slightly larger files in a third of the time.
            "optimizeForSpeed": True,
            "clip": {**page, "scale": 1},
            # Resizes the window and lays out the page again.
            "captureBeyondViewport": page["width"] > window["clientWidth"]
            or page["height"] > window["clientHeight"],
        },
    )
    _path(folder, name, cell).write_bytes(b64decode(taken["data"]))


def _path(folder: str, name: str, cell: Cell) -> Path:
    path = Path(folder) / f"{name}-{cell}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
