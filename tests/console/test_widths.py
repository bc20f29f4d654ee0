"""Every page with long content, on screens of every width: nothing is cut off or overlaps.

pytest tests/console/test_widths.py -k accounts
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from ..rigs.console.cells import WIDE
from ..rigs.console.faults import as_lines
from ..rigs.console.overlaps import overlaps
from ..rigs.console.world import World
from .long_world import TITLES, lengthen
from .page_visits import ALL_PAGES, PageVisits
from .pages import Page
from .populated_site import populated_site

WIDTHS = (320, 360, 480, 640, 700, 768, 900, 960, 1280, 1920)
_LAYOUT_ERRORS = """
() => {
  const errors = [];
  const html = document.documentElement;
  const name = (it) => it.outerHTML.replace(/\\s+/g, " ").slice(0, 90);
  const box = (it) => it.getBoundingClientRect();
  const isShown = (it) => it.checkVisibility() && box(it).width > 1;
  const text = (it) => it.textContent.trim().replace(/[↑↓]$/, "");
  const isOver = (one, other) => box(one).right > box(other).left + 1
    && box(one).left < box(other).right - 1
    && box(one).bottom > box(other).top + 1 && box(one).top < box(other).bottom - 1;
  const isClipped = (it, end) => {
    for (let at = it.parentElement; at && at !== end; at = at.parentElement) {
      if (getComputedStyle(at).overflowX !== "visible") return true;
    }
    return false;
  };
  const isOutside = (it, around) => !isClipped(it, around)
    && (box(it).right > box(around).right + 1 || box(it).left < box(around).left - 1);
  const all = [...document.querySelectorAll("body *")].filter(isShown);

  if (html.scrollWidth > innerWidth) {
    const wide = all.filter((it) => isOutside(it, html)).slice(-2).map(name);
    errors.push(`scrolls sideways: ${wide}`);
  }
  for (const it of all) {
    const around = it.parentElement.closest(".panel, .card, .stat, .menu, td, tbody th");
    if (around && !it.closest(".pop, svg") && isOutside(it, around)) {
      errors.push(`leaves ${around.localName}.${around.className}: ${name(it)}`);
    }
  }
  for (const table of document.querySelectorAll(".table table")) {
    const titles = [...table.tHead.rows[0].cells].filter(isShown);
    const isStacked = box(table.tHead).width <= 1;
    for (const row of [...table.tBodies[0].rows].filter(isShown)) {
      const cells = [...row.cells].filter(isShown);
      if (isStacked) {
        for (const cell of cells) {
          const isNamed = cell.dataset.label || cell.matches("th, .end, [colspan]");
          if (!isNamed) errors.push(`has no label: ${name(cell)}`);
          const covered = cells.find((each) => each !== cell && isOver(cell, each));
          if (covered) errors.push(`${name(cell)} overlaps ${name(covered)}`);
        }
        continue;
      }
      if (cells.some((cell) => cell.colSpan > 1)) continue;
      if (cells.length !== titles.length) {
        errors.push(`${titles.length} titles above ${cells.length} cells: ${name(table)}`);
        break;
      }
      cells.forEach((cell, at) => {
        const title = titles[at];
        if (Math.abs(box(cell).left - box(title).left) > 1) {
          errors.push(`${name(title)} is not above ${name(cell)}`);
        }
        if (title.scrollWidth > title.clientWidth + 1) errors.push(`${name(title)} is cut off`);
        if (cell.dataset.label && cell.dataset.label !== text(title)) {
          errors.push(`${name(title)} is not the label of ${name(cell)}`);
        }
      });
    }
  }
  for (const it of all.filter((each) => each.matches("pre, .tabs"))) {
    if (it.scrollWidth > it.clientWidth + 1) errors.push(`must be scrolled: ${name(it)}`);
  }
  for (const it of all.filter((each) => !each.closest("[dir=auto], [dir=rtl], bdi, option"))) {
    const own = [...it.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data);
    if (/[\\u0600-\\u06ff]/.test(own.join(" ") + (it.value ?? ""))) {
      errors.push(`has no direction of its own: ${name(it)}`);
    }
  }
  return [...new Set(errors)].slice(0, 9);
}
"""
_OPEN_DETAILS = """
() => {
  const closed = document.querySelectorAll("main details:not([open], .menu, [data-dialog])");
  for (const it of closed) it.open = true;
  return closed.length;
}
"""


@pytest.fixture(scope="module")
def long_visits(
    browser: Browser, _migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PageVisits]:
    with populated_site(_migrated_sqlite, tmp_path_factory.mktemp("console")) as site:
        yield PageVisits(browser, lengthen(World(site)))


@pytest.mark.parametrize("listed_page", ALL_PAGES, ids=[page.name for page in ALL_PAGES])
def test_page_fits_every_width(long_visits: PageVisits, listed_page: Page) -> None:
    visitor = long_visits.visitor(listed_page, WIDE)
    assert visitor.open(long_visits.path(listed_page)).status == listed_page.status
    page = visitor.page
    found = _errors_by_width(page)
    if page.evaluate(_OPEN_DETAILS):
        found += [f"with details open, {error}" for error in _errors_by_width(page)]
    assert not found, as_lines(found)


def test_check_of_a_long_broadcast_fits_every_width(long_visits: PageVisits) -> None:
    form = next(page for page in ALL_PAGES if page.view == "compose_page")
    visitor = long_visits.visitor(form, WIDE)
    visitor.open(long_visits.path(form))
    visitor.page.get_by_label("Title", exact=True).fill(TITLES[3])
    visitor.page.locator("[name='data.message']").fill(TITLES[3] * 3)
    visitor.page.get_by_label("Email", exact=True).check()
    visitor.page.get_by_role("button", name="Review").click()
    visitor.page.get_by_role("heading", name="Check the broadcast").wait_for()
    found = _errors_by_width(visitor.page)
    assert not found, as_lines(found)


@pytest.mark.parametrize("locale", ["de-DE", "ar"])
def test_events_fit_every_width_in_other_languages(long_visits: PageVisits, locale: str) -> None:
    found = []
    for view, query in (
        ("admin_events_page", "?search=a"),
        ("admin_events_page", "?type=Accounts&type=account.updated.role&days=30"),
        ("workspace_activity_page", "?type=Workspaces"),
    ):
        listed = next(page for page in ALL_PAGES if page.view == view)
        visitor = long_visits.visitor(listed, WIDE._replace(locale=locale))
        assert visitor.open(long_visits.path(listed) + query).status == listed.status
        found += _errors_by_width(visitor.page)
        visitor.page.evaluate(_OPEN_DETAILS)
        found += _errors_by_width(visitor.page)
        visitor.picture(f"{view}-{locale}")
    assert not found, as_lines(found)


def _errors_by_width(page: Any) -> list[str]:
    """Return each error with the widths at which it occurs."""
    found: dict[str, list[int]] = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for error in page.evaluate(_LAYOUT_ERRORS) + overlaps(page):
            found.setdefault(error, []).append(width)
    return [f"{error}, at {', '.join(map(str, widths))}" for error, widths in found.items()]
