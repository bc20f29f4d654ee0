"""axe-core: what a machine can find of the faults that keep people out of a page."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from ..npm import install

_HERE = Path(__file__).resolve().parent
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Frames hold mails here, in which no script may answer. What is well is many times what is not, and
# stays in the browser.
_RUN = """
(tags) => axe.run(document, {
  iframes: false,
  resultTypes: ["violations"],
  runOnly: { type: "tag", values: tags },
}).then(({ violations }) => violations)
"""
_GRAVE = ("serious", "critical")


@cache
def _source() -> str:
    install(_HERE)
    return (_HERE / "node_modules" / "axe-core" / "axe.min.js").read_text()


def grave_violations(page: Page) -> list[str]:
    """The lesser ones are printed, for whoever reads a test's output."""
    told = {each["id"]: (each["impact"], _told(each)) for each in violations(page)}
    for _, line in told.values():
        print(line)
    return [line for impact, line in told.values() if impact in _GRAVE]


def violations(page: Page) -> list[dict[str, Any]]:
    """Evaluated by the browser's tools, which no Content-Security-Policy stands in the way of; a
    page without script cannot be asked."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    found: list[dict[str, Any]] = page.evaluate(_RUN, _RULES)
    return found


def _told(found: dict[str, Any]) -> str:
    places = ", ".join(" ".join(map(str, node["target"])) for node in found["nodes"][:4])
    more = "; ".join(
        check["message"] for node in found["nodes"][:1] for check in node["any"] + node["all"]
    )
    return f"{found['impact']}: {found['id']} at {places} ({more or found['help']})"
