"""A real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from .backends import missing

# The first program is headless Chromium, which needs half the time.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

# On a busy machine, Swagger UI needs more than Playwright's default of five seconds to render.
expect.set_options(timeout=30_000)


# Not of session scope: while Playwright runs, no other event loop can run in its thread.
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
        # Chromium's sandbox needs permissions that containers seldom have; the pages are trusted.
        args = ["--no-sandbox", *options]
        browser = playwright.chromium.launch(executable_path=program, args=args)
        try:
            yield browser
        finally:
            browser.close()
