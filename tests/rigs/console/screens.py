"""Pictures of pages, kept for people to look at."""

from __future__ import annotations

import os
from base64 import b64decode
from pathlib import Path

from playwright.sync_api import CDPSession

from ..servers import ROOT
from .cells import Cell


def folder() -> Path:
    return Path(os.environ.get("FRONTDESK_SCREENS") or ROOT / "build" / "screens")


def take(cdp: CDPSession, name: str, cell: Cell) -> Path:
    """The whole page of the session, however long it is. Nothing moves for those who ask for that,
    and the fonts are the machine's own, so that there is nothing to wait for."""
    path = folder() / f"{name}-{cell}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    found = cdp.send("Page.getLayoutMetrics")
    page, window = found["cssContentSize"], found["cssLayoutViewport"]
    taken = cdp.send(
        "Page.captureScreenshot",
        {
            "format": "png",
            # Packed a little less well, in a third of the time.
            "optimizeForSpeed": True,
            "clip": {**page, "scale": 1},
            # The window is made as large meanwhile, and all is laid out anew.
            "captureBeyondViewport": page["width"] > window["clientWidth"]
            or page["height"] > window["clientHeight"],
        },
    )
    path.write_bytes(b64decode(taken["data"]))
    return path
