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


_FOCUSED = """
(isForward) => {
  const it = document.activeElement;
  const last = window.frontdeskFocused;
  window.frontdeskFocused = it;
  if (!it || it === document.body) return { name: "", faults: [] };
  const hasOutline = (one) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== "none" && outlineWidth !== "0px";
  };
  const box = it.getBoundingClientRect();
  const faults = [];
  if (it.matches("a, button, input, select, textarea, summary, [role=option]")) {
    const around = [it, it.parentElement, it.nextElementSibling, ...(it.labels ?? [])];
    if (!around.some((one) => one && hasOutline(one))) faults.push("does not show the focus");
    if (box.bottom <= 0 || box.top >= innerHeight) faults.push("is outside the viewport");
  }
  if (isForward !== null && last?.isConnected && last !== it && last.closest("main")) {
    const [one, other] = isForward ? [last, it] : [it, last];
    const [first, next] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
    if (other.closest("main") && next.bottom <= first.top && next.left < first.right) {
      faults.push("is above the control before it");
    }
  }
  return { name: (it.computedName || it.innerText || "").trim(), faults };
}
"""


class Keyboard:
    """A user without a mouse. Each control on the way must show the focus and follow the page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def to(self, name: str, key: str = "Tab") -> None:
        """Press the key until the control with this accessible name has the focus."""
        passed = []
        for _ in range(120):
            self._page.keyboard.press(key)
            passed.append(self.focused(is_forward=key == "Tab"))
            if passed[-1] == name:
                return
        raise AssertionError(f"{name!r} is not reached by {key}: {passed}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self._page.keyboard.press(key)

    def type(self, text: str) -> None:
        self._page.keyboard.type(text)

    def focused(self, is_forward: bool | None = None) -> str:
        """Return the name of the element with the focus, or an empty text without one."""
        found = self._page.evaluate(_FOCUSED, is_forward)
        assert not found["faults"], (found["name"], found["faults"])
        name: str = found["name"]
        return name
