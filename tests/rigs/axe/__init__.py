"""axe-core: automatic accessibility tests of a page."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from ..npm import install

_HERE = Path(__file__).resolve().parent
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Frames contain emails, in which scripts cannot run. Only violations are returned: the list of
# passed rules is long.
_RUN = """
(tags) => axe.run(document, {
  iframes: false,
  resultTypes: ["violations"],
  runOnly: { type: "tag", values: tags },
}).then(({ violations }) => violations)
"""
_SERIOUS = ("serious", "critical")


@cache
def _source() -> str:
    install(_HERE)
    return (_HERE / "node_modules" / "axe-core" / "axe.min.js").read_text()


def serious_violations(page: Page) -> list[str]:
    """Return serious violations; minor violations are printed."""
    lines = {each["id"]: (each["impact"], _describe(each)) for each in violations(page)}
    for _, line in lines.values():
        print(line)
    return [line for impact, line in lines.values() if impact in _SERIOUS]


def violations(page: Page) -> list[dict[str, Any]]:
    """Run axe through the developer tools, which ignore the Content-Security-Policy; the browser
    must have scripts enabled."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    found: list[dict[str, Any]] = page.evaluate(_RUN, _RULES)
    return found


def _describe(found: dict[str, Any]) -> str:
    places = ", ".join(" ".join(map(str, node["target"])) for node in found["nodes"][:4])
    more = "; ".join(
        check["message"] for node in found["nodes"][:1] for check in node["any"] + node["all"]
    )
    return f"{found['impact']}: {found['id']} at {places} ({more or found['help']})"
