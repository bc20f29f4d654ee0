"""A real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from playwright.sync_api import Browser, sync_playwright

from .backends import missing

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_ADDRESS_BAR = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup")


# Not for the whole session: while it runs, its thread can run no event loop of another's.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@contextmanager
def launched(*options: str) -> Iterator[Browser]:
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), "")
    if not program:
        missing("Chromium is not installed")
    with _started(program, _without_address_bar(program), *options) as browser:
        yield browser


@contextmanager
def _started(program: str, *options: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Chromium's own sandbox asks for what a container seldom gives, and the pages are ours.
        args = ["--no-sandbox", *options]
        browser = playwright.chromium.launch(executable_path=program, args=args)
        try:
            yield browser
        finally:
            browser.close()


@cache
def _without_address_bar(program: str) -> str:
    """Every window makes pages ready for its address bar, which nobody sees here and which take
    longer than most of ours. Of such options the last one counts, and Playwright has one too."""
    with _started(program, "--enable-automation") as browser:
        said = browser.new_browser_cdp_session().send("Browser.getBrowserCommandLine")
    *_, off = (option for option in said["arguments"] if option.startswith("--disable-features="))
    return ",".join([off, *_ADDRESS_BAR])
