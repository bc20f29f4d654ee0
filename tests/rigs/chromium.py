"""A real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from .backends import missing

# The first is Chromium without its windows, which take as long as the pages in them.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

# On busy cores Swagger UI takes longer than the library's five seconds to draw every operation.
expect.set_options(timeout=30_000)


# Not for the whole session: while it runs, its thread can run no event loop of another's.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launch_chromium() as browser:
        yield browser


@contextmanager
def launch_chromium(*options: str) -> Iterator[Browser]:
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        missing("Chromium is not installed")
    with sync_playwright() as playwright:
        # Chromium's own sandbox asks for what a container seldom gives, and the pages are ours.
        args = ["--no-sandbox", *options]
        browser = playwright.chromium.launch(executable_path=program, args=args)
        try:
            yield browser
        finally:
            browser.close()
