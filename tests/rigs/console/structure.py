"""The structure that every page must have."""

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
    // Code shows examples, such as of a personal field.
    leftover: all("code")
      .reduce((left, it) => left.replace(it.innerText, ""), document.body.innerText)
      .match(/\\{\\{|\\}\\}|\\bNone\\b|\\bundefined\\b|\\bNaN\\b|\\[object /g) ?? [],
  };
}
"""


def structure_errors(page: Page, app: Flask) -> list[str]:
    page_data = page.evaluate(_READ)
    errors = {
        "has no title": not page_data["title"],
        "has no language": not page_data["lang"],
        "has no viewport for small screens": page_data["viewport"] != 1,
        f"has {len(page_data['h1'])} first headings: {page_data['h1']}": len(page_data["h1"]) != 1,
        f"skips a level of headings: {page_data['levels']}": _skips_a_level(page_data["levels"]),
        f"has {page_data['main']} main parts": page_data["main"] != 1,
        f"is {page_data['width']} wide: {page_data['wide']}": page_data["width"]
        > page_data["window"],
        f"has duplicate ids: {page_data['twice']}": page_data["twice"],
        f"has inline: {page_data['inline']}": page_data["inline"],
        f"has times without datetime: {page_data['times']}": page_data["times"],
        f"has broken pictures: {page_data['pictures']}": page_data["pictures"],
        f"shows template code or undefined values: {page_data['leftover']}": page_data["leftover"],
    }
    found = [what for what, is_so in errors.items() if is_so]
    found += [
        f"has a form without a route: {url}"
        for url in _urls_without_route(app, "POST", page_data["forms"])
    ]
    found += [
        f"has a link without a route: {url}"
        for url in _urls_without_route(app, "GET", page_data["links"])
    ]
    return found


def _skips_a_level(levels: list[int]) -> bool:
    return any(after > before + 1 for before, after in zip([0, *levels], levels, strict=False))


def _urls_without_route(app: Flask, method: str, urls: list[str]) -> list[str]:
    """Return the service's URLs that have no route."""
    routes: Any = app.url_map.bind("localhost")
    unrouted = []
    for url in urls:
        parts = urlsplit(url)
        if parts.hostname != "localhost":
            continue
        try:
            routes.match(parts.path, method)
        except HTTPException:
            unrouted.append(url)
    return sorted(set(unrouted))
