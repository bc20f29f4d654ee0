"""Keyboard navigation: each control is reachable, shows the focus, and has a name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

# Finds the elements that Tab should reach, and stores their style without the focus.
_STOPS = """
() => {
  const all = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
  const shown = { visibilityProperty: true, contentVisibilityAuto: true };
  const seen = new Set();
  const stops = [...document.querySelectorAll(all)].filter((it) => {
    if (it.disabled || it.tabIndex < 0 || it.closest("[inert]")) return false;
    if (!it.checkVisibility(shown)) return false;
    if (it.type !== "radio") return true;
    // Of a group, the keys with arrows reach the rest.
    const group = it.form?.elements[it.name] ?? it;
    const first = [...(group.length ? group : [group])].find((one) => one.checked) ?? it;
    return !seen.has(first.name) && seen.add(first.name);
  });
  const look = (it) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(it);
    const outline = outlineStyle === "none" || outlineWidth === "0px" ? "" : outlineColor;
    return { outline, boxShadow: boxShadow === "none" ? "" : boxShadow };
  };
  const around = (it) => [it, it.parentElement, it.nextElementSibling, ...(it.labels ?? [])]
    .filter(Boolean);
  document.activeElement?.blur();
  const before = new Map(stops.map((it) => [it, around(it).map(look)]));
  window.frontdeskTabbed = { stops, look, around, before };
  return stops.length;
}
"""
_HERE = """
() => {
  const { stops, look, around, before } = window.frontdeskTabbed;
  const it = document.activeElement;
  if (!it || it === document.body || it === document.documentElement) return null;
  // A frame shows what has the focus within it itself.
  if (it.localName === "iframe") return null;
  const name = (it.computedName || "").trim();
  const old = before.get(it);
  const shown = around(it).map(look).some(({ outline, boxShadow }, at) =>
    (outline && outline !== old?.[at].outline)
    || (outline && at === 0)
    || (boxShadow && boxShadow !== old?.[at].boxShadow));
  const box = it.getBoundingClientRect();
  const short = it.outerHTML.slice(0, it.outerHTML.indexOf(">") + 1).slice(0, 160);
  const inView = box.width > 0 && box.right > 0 && box.left < innerWidth;
  const group = stops.findIndex((one) => one === it
    || (it.type === "radio" && one.type === "radio" && one.name === it.name));
  return { at: group, name, shown, inView, short };
}
"""
_MISSED = """
(reached) => window.frontdeskTabbed.stops.filter((_, at) => !reached.includes(at))
  .map((it) => it.outerHTML.slice(0, 160))
"""


def tab_through(page: Page) -> list[str]:
    """Press Tab through the whole page and return the errors."""
    count = page.evaluate(_STOPS)
    reached: set[int] = set()
    wrong: dict[str, None] = {}
    # A full cycle from any start: a field may have the focus when the page opens.
    frames = page.locator("iframe").count()
    with _accessibility_tree(page):
        for _ in range(2 * count + 4 + 20 * frames):
            if len(reached) == count:
                break
            page.keyboard.press("Tab")
            here = page.evaluate(_HERE)
            if here is None:
                continue
            reached.add(here["at"])
            faults = {
                "has no name": not here["name"],
                "does not show the focus": not here["shown"],
                "is outside the viewport": not here["inView"],
            }
            wrong |= {f"{here['short']} {what}": None for what, is_so in faults.items() if is_so}
    missed = page.evaluate(_MISSED, sorted(reached))
    return [*wrong, *(f"{each} is not reached by Tab" for each in missed)]


@contextmanager
def _accessibility_tree(page: Page) -> Iterator[None]:
    """Keep the accessibility tree in the browser, which otherwise builds it again for each name."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("Accessibility.enable")
    cdp.send("Accessibility.getRootAXNode")
    try:
        yield
    finally:
        cdp.detach()
