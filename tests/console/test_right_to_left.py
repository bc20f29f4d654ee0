"""Pages in a language that is written from right to left, in Chromium.

The texts are Arabic letters in place of the Latin ones, with the placeholders of the originals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from playwright.sync_api import Browser

from app.accounts.service import Accounts
from app.core import translations as catalogs
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from scripts.texts import DOMAINS, template_path

from ..rigs.axe import serious_violations
from ..rigs.console.cells import WIDE
from ..rigs.console.world import World
from .page_visits import ALL_PAGES, PageVisits
from .populated_site import populated_site

WIDTHS = (320, 768, 1280)
PAGES = (
    "sign-in",
    "inbox",
    "profile",
    "account",
    "security",
    "tokens",
    "member",
    "overview",
    "accounts",
    "managed-account",
    "compose",
    "broadcast",
    "events",
    "managed-banner",
    "managed-banners",
)
_LATIN, _ARABIC = "abcdefghijklmnopqrstuvwxyz", "ابتثجحخدذرزسشصضطظعغفقكلمنه"
_LETTERS = str.maketrans(_LATIN + _LATIN.upper(), _ARABIC * 2)
_SIDEWAYS = """
() => {
  const html = document.documentElement;
  const overlap = html.scrollWidth - html.clientWidth;
  const outside = [...document.querySelectorAll("body *")].filter((it) => {
    const box = it.getBoundingClientRect();
    return it.checkVisibility() && box.width > 1 && (box.left < -1 || box.right > innerWidth + 1);
  });
  const isClipped = (it) => it.parentElement !== html
    && (getComputedStyle(it).overflowX !== "visible" || isClipped(it.parentElement));
  const wide = outside.filter((it) => !isClipped(it.parentElement));
  const names = wide.slice(-2).map((it) => it.outerHTML.slice(0, 90));
  return overlap > 0 ? [`scrolls by ${overlap}`, ...names] : [];
}
"""


_GAP_BEFORE_HEADING = """
() => {
  const heading = document.querySelector("h1"), text = document.createRange();
  text.selectNodeContents(heading);
  return heading.parentElement.getBoundingClientRect().right - text.getBoundingClientRect().right;
}
"""
# The directions of phone numbers, in fields and as text.
_PHONES = """
() => [...document.querySelectorAll("input[type=tel], main bdi")]
  .filter((it) => /^[+0-9 ]{8,}$/.test(it.value ?? it.textContent))
  .map((it) => getComputedStyle(it).direction)
"""


def _arabic(text: str) -> str:
    parts = re.split(r"(\{[^{}]*\})", text)
    return "".join(part if part.startswith("{") else part.translate(_LETTERS) for part in parts)


def write_arabic(folder: Path) -> None:
    for domain in DOMAINS:
        catalog = Catalog(locale="ar")
        for message in read_po(BytesIO(template_path(domain).read_bytes())):
            if isinstance(message.id, str):
                # A number keeps its format.
                if message.id and message.id != "1,000":
                    catalog.add(message.id, _arabic(message.id), context=message.context)
            else:
                one, many = message.id
                catalog.add((one, many), [_arabic(one), *[_arabic(many)] * 5])
        file = folder / "ar" / "LC_MESSAGES" / f"{domain}.po"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as out:
            write_po(out, catalog)


@pytest.fixture(scope="module")
def arabic_visits(
    browser: Browser, _migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PageVisits]:
    folder = tmp_path_factory.mktemp("translations")
    write_arabic(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogs, "BUILT_IN", folder)
        catalogs.available_languages.cache_clear()
        catalogs._load.cache_clear()
        with populated_site(_migrated_sqlite, tmp_path_factory.mktemp("console")) as site:
            yield PageVisits(browser, World(site))
    catalogs.available_languages.cache_clear()
    catalogs._load.cache_clear()


@pytest.mark.parametrize("name", PAGES)
def test_page_from_right_to_left_fits_and_is_accessible(
    arabic_visits: PageVisits, name: str
) -> None:
    [listed] = [page for page in ALL_PAGES if page.name == name]
    visitor = arabic_visits.visitor(listed, WIDE._replace(locale="ar"))
    page = visitor.page
    assert visitor.open(arabic_visits.path(listed)).status == listed.status
    assert page.evaluate("[document.documentElement.dir, document.documentElement.lang]") == [
        "rtl",
        "ar",
    ]
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{width}: {each}" for each in page.evaluate(_SIDEWAYS)]
    assert not found, found
    assert serious_violations(page) == []


def test_name_in_latin_letters_starts_at_the_right(arabic_visits: PageVisits) -> None:
    [listed] = [page for page in ALL_PAGES if page.name == "member"]
    visitor = arabic_visits.visitor(listed, WIDE._replace(locale="ar"))
    visitor.open(arabic_visits.path(listed))
    assert visitor.page.locator("h1").inner_text() == "Ada Lovelace"
    assert visitor.page.evaluate(_GAP_BEFORE_HEADING) < 1


@pytest.mark.parametrize("name", ["account", "managed-account"])
def test_phone_number_is_written_from_left_to_right(arabic_visits: PageVisits, name: str) -> None:
    [listed] = [page for page in ALL_PAGES if page.name == name]
    world = arabic_visits.world
    with world.site.app.app_context(), transaction(current_frontdesk.session):
        account = service(Accounts).by_id(world.ada.id)
        service(Accounts).change(account, phone="+493012345678")
    visitor = arabic_visits.visitor(listed, WIDE._replace(locale="ar"))
    visitor.open(arabic_visits.path(listed))
    assert visitor.page.evaluate(_PHONES) == ["ltr"]
