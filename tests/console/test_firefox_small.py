"""Journeys of the console in Firefox on a small dark screen, with and without scripts.

Journeys without scripts wait with `wait_for` (tests/rigs/firefox.py).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from ..conftest import only_on
from ..core import test_docs_page
from ..rigs.console.cells import SMALL, Cell
from ..rigs.console.site import Site, Visitors
from ..rigs.firefox import launch_firefox
from . import test_visitor_in_chromium
from .test_owner_in_chromium import notify

pytestmark = only_on("sqlite")

strict = test_visitor_in_chromium.strict

test_authenticator_app = test_visitor_in_chromium.test_required_authenticator_app_is_set_up_and_used


@pytest.fixture(scope="module", params=[SMALL, SMALL._replace(script=False)], ids=str)
def cell(request: pytest.FixtureRequest) -> Cell:
    found: Cell = request.param
    return found


@pytest.fixture(scope="module")
def browser(cell: Cell) -> Iterator[Browser]:
    with launch_firefox(cell) as browser:
        yield browser


def test_language_is_changed(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    notify(site, ada, "Your invoice")
    her = visitors(ada)
    her.open("/account")
    page = her.page
    page.locator("[name=locale]").select_option(label="العربية")
    page.get_by_role("button", name="Save details").click()
    page.locator("html[lang=ar][dir=rtl]").wait_for()
    page.get_by_text("تم حفظ التفاصيل.").first.wait_for()
    her.picture("account-arabic")
    for path in ("/dashboard", "/security"):
        her.open(path)
        her.settle()
        her.picture(f"{path[1:]}-arabic")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    her.open("/account")
    page.locator("[name=locale]").select_option(label="English")
    page.get_by_role("button", name="حفظ التفاصيل").click()
    page.get_by_text("Details saved.").first.wait_for()


def test_api_page_sends_requests_or_says_what_it_needs(site: Site, visitors: Visitors) -> None:
    ada, her = site.person("ada"), visitors()
    her.open("/api/v1/docs")
    if her.cell.script:
        test_docs_page.signs_in(her.page, ada)
        test_docs_page.links_back_to_the_console(her.page, ada)
    else:
        her.page.locator("noscript p").wait_for()
