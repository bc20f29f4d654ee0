"""A real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from .backends import missing


# Not for the whole session: while it runs, its thread can run no event loop of another's.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((path for name in names if (path := shutil.which(name))), None)
    if program is None:
        missing("Chromium is not installed")
    with sync_playwright() as playwright:
        # Chromium's own sandbox asks for what a container seldom gives, and the pages are ours.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
