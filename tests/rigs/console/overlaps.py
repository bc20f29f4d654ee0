"""Texts and controls of a page that cross each other."""

from __future__ import annotations

from playwright.sync_api import Page

# A text is measured line by line, as high as its letters. A field is measured without its padding,
# where icons and buttons are.
_OVERLAPS = """
() => {
  // A part of the layout that stays in the window may cover what is scrolled below it.
  scrollTo(0, 0);
  const CONTROLS = ".button, input, select, textarea, progress, meter, img, iframe, .avatar,"
    + " .badge, .count, .icon";
  const name = (it) => it.outerHTML.replace(/\\s+/g, " ").slice(0, 70);
  const styles = new Map();
  const style = (it) => styles.get(it) ?? styles.set(it, getComputedStyle(it)).get(it);
  // The part of the window in which an element is drawn; null if it is not drawn at all.
  const frames = new Map([[null, [-1e5, -1e5, 1e5, 1e5]]]);
  const frame = (it) => {
    if (!frames.has(it)) frames.set(it, find(it));
    return frames.get(it);
  };
  const find = (it) => {
    const around = frame(it.parentElement);
    const { clipPath, opacity, overflowX, position } = style(it);
    if (!around || clipPath !== "none" || opacity === "0" || !it.checkVisibility()) return null;
    if (position === "fixed" || it.localName === "svg" || overflowX === "visible") return around;
    return meet(around, edges(it.getBoundingClientRect()));
  };
  const edges = ({ left, top, right, bottom }) => [left, top, right, bottom];
  const meet = (a, b) => [
    Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3]),
  ];
  const isBox = (box) => box[2] - box[0] > 2 && box[3] - box[1] > 2;
  const found = [];
  const add = (it, node, box) => {
    const shown = meet(frame(it), box);
    if (isBox(shown)) found.push({ it, node, box: shown });
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const it = node.parentElement;
    if (!node.data.trim() || it.closest("svg, script, select, textarea") || !frame(it)) continue;
    range.selectNodeContents(node);
    const size = parseFloat(style(it).fontSize) * 0.4;
    for (const rect of range.getClientRects()) {
      const middle = (rect.top + rect.bottom) / 2;
      add(it, node, [rect.left, middle - size, rect.right, middle + size]);
    }
  }
  for (const it of document.querySelectorAll(CONTROLS)) {
    if (!frame(it)) continue;
    const box = edges(it.getBoundingClientRect());
    if (it.matches("input, select, textarea")) {
      const { paddingLeft, paddingTop, paddingRight, paddingBottom } = style(it);
      box[0] += parseFloat(paddingLeft);
      box[1] += parseFloat(paddingTop);
      box[2] -= parseFloat(paddingRight);
      box[3] -= parseFloat(paddingBottom);
    }
    add(it, it, box);
  }
  const isInside = (one, other) => one.node.contains(other.node);
  found.sort((one, other) => one.box[1] - other.box[1]);
  const errors = new Set();
  found.forEach((one, at) => {
    for (let next = at + 1; next < found.length; next++) {
      const other = found[next];
      if (other.box[1] >= one.box[3] - 2) break;
      if (isInside(one, other) || isInside(other, one)) continue;
      if (isBox(meet(one.box, other.box))) {
        errors.add([name(one.it), name(other.it)].sort().join(" crosses "));
      }
    }
  });
  return [...errors].slice(0, 9);
}
"""


def overlaps(page: Page) -> list[str]:
    """Return the texts and controls that lie over others in this window."""
    found: list[str] = page.evaluate(_OVERLAPS)
    return found
