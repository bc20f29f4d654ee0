"""What every page has, whoever wrote it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from flask import Flask
from playwright.sync_api import Page
from werkzeug.exceptions import HTTPException

_READ = """
() => {
  const all = (what) => [...document.querySelectorAll(what)];
  const text = (it) => it.textContent.trim().replace(/\\s+/g, " ");
  const ids = all("[id]").map((it) => it.id);
  return {
    title: document.title.trim(),
    lang: document.documentElement.lang,
    viewport: all("meta[name=viewport]").length,
    h1: all("h1").map(text),
    levels: all("h1, h2, h3, h4, h5, h6").filter((it) => it.checkVisibility())
      .map((it) => Number(it.localName[1])),
    main: all("main, [role=main]").length,
    twice: ids.filter((id, at) => ids.indexOf(id) !== at),
    inline: all("[style], style, script:not([src])")
      .filter((it) => it.type !== "application/json").map((it) => it.outerHTML.slice(0, 120)),
    links: all("a[href], form").filter((it) => it.localName === "a" || it.method === "get")
      .map((it) => it.href || it.action),
    forms: all("form").filter((it) => it.method === "post")
      .flatMap((it) => [it.action, ...[...it.elements].map((one) => one.getAttribute("formaction")
        && one.formAction).filter(Boolean)]),
    width: document.documentElement.scrollWidth,
    wide: all("body *").filter((it) => it.getBoundingClientRect().right > innerWidth + 1
        && it.checkVisibility()).slice(-3).map((it) => it.outerHTML.slice(0, 100)),
    window: innerWidth,
    times: all("time:not([datetime])").map(text),
    pictures: all("img").filter((it) => it.complete && !it.naturalWidth).map((it) => it.src),
    leftover: document.body.innerText
      .match(/\\{\\{|\\}\\}|\\bNone\\b|\\bundefined\\b|\\bNaN\\b|\\[object /g) ?? [],
  };
}
"""


def faults_of(page: Page, app: Flask) -> list[str]:
    seen = page.evaluate(_READ)
    said = {
        "has no title": not seen["title"],
        "does not say its language": not seen["lang"],
        "does not fit itself to small screens": seen["viewport"] != 1,
        f"has {len(seen['h1'])} first headings: {seen['h1']}": len(seen["h1"]) != 1,
        f"leaves out a level of headings: {seen['levels']}": _leaps(seen["levels"]),
        f"has {seen['main']} main parts": seen["main"] != 1,
        f"is {seen['width']} wide: {seen['wide']}": seen["width"] > seen["window"],
        f"names twice: {seen['twice']}": seen["twice"],
        f"has inline: {seen['inline']}": seen["inline"],
        f"has times that no program can read: {seen['times']}": seen["times"],
        f"has pictures that are none: {seen['pictures']}": seen["pictures"],
        f"shows what no person writes: {seen['leftover']}": seen["leftover"],
    }
    found = [what for what, is_so in said.items() if is_so]
    found += [f"has a form that leads nowhere: {url}" for url in _lost(app, "POST", seen["forms"])]
    found += [f"has a link that leads nowhere: {url}" for url in _lost(app, "GET", seen["links"])]
    return found


def _leaps(levels: list[int]) -> bool:
    return any(after > before + 1 for before, after in zip([0, *levels], levels, strict=False))


def _lost(app: Flask, method: str, urls: list[str]) -> list[str]:
    """Those of ours that no route is behind."""
    routes: Any = app.url_map.bind("localhost")
    lost = []
    for url in urls:
        parts = urlsplit(url)
        if parts.hostname != "localhost":
            continue
        try:
            routes.match(parts.path, method)
        except HTTPException:
            lost.append(url)
    return sorted(set(lost))
