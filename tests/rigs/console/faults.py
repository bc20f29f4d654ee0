"""Errors of the browser during a test: they are recorded and fail the test."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, Response, WebError

# Cumulative layout shift over a page's life; Google rates 0.1 as good.
MAX_SHIFT = 0.05
_SHIFTED = "frontdesk: moved "
_NOTE_SHIFTS = """
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    const who = entry.sources.map(({ node }) => {
      const it = node && (node.nodeType === 1 ? node : node.parentElement);
      if (!it) return "?";
      return [it.localName, ...it.classList].join(".");
    });
    console.debug("MARK" + entry.value + " " + location.pathname + " " + who.join(" "));
  }
}).observe({ type: "layout-shift", buffered: true });
""".replace("MARK", _SHIFTED)
_REFUSED = re.compile(r"Failed to load resource: the server responded with a status of (\d+)")
# A sandboxed frame blocks the script that records layout shifts.
_BLOCKED_SCRIPT = "Blocked script execution in "
# Resource types that a visitor requests; all other resources belong to the page and must exist.
_READ = ("document", "xhr", "fetch")


class Faults:
    """AuditLog the errors of one browser context, from its first page on.

    A rejected form is not an error: the response is a page. A missing page is one, unless the test
    expects the status.
    """

    def __init__(self, context: BrowserContext, base: str) -> None:
        self._base = base
        self._found: list[str] = []
        self._shifts: dict[str, list[tuple[float, str]]] = defaultdict(list)
        self._expected: set[int] = set()
        self._refused: set[str] = set()
        self._allowed: list[str] = []
        context.add_init_script(_NOTE_SHIFTS)
        context.on("console", self._note_line)
        context.on("weberror", self._note_error)
        context.on("request", self._note_request)
        context.on("requestfailed", self._note_failure)
        context.on("response", self._note_response)

    def expect(self, *statuses: int) -> None:
        """Accept pages with these statuses."""
        self._expected.update(statuses)

    def allow(self, site: str) -> None:
        """Accept requests to another site, which the test opens."""
        self._allowed.append(site)

    def found(self) -> list[str]:
        moved = [
            f"moved by {total:.3f}: {path} ({', '.join(who for _, who in shifts)})"
            for path, shifts in self._shifts.items()
            if (total := sum(value for value, _ in shifts)) > MAX_SHIFT
        ]
        return [*self._found, *moved]

    def take(self) -> list[str]:
        """Return all errors so far and clear them."""
        found = self.found()
        self._found.clear()
        self._shifts.clear()
        self._expected.clear()
        return found

    def _note_line(self, line: ConsoleMessage) -> None:
        if line.text.startswith(_SHIFTED):
            value, path, who = (line.text.removeprefix(_SHIFTED) + " ").split(" ", 2)
            self._shifts[path].append((float(value), who.strip()))
        elif line.type in ("error", "warning") and not self._is_a_refusal(line):
            self._found.append(f"console {line.type} at {line.location['url']}: {line.text}")

    def _is_a_refusal(self, line: ConsoleMessage) -> bool:
        """Return whether the line reports a status, which `_note_response` checks."""
        if _REFUSED.match(line.text) or line.text.startswith(_BLOCKED_SCRIPT):
            return True
        return line.text.startswith("Response Status Error Code")

    def _note_error(self, error: WebError) -> None:
        self._found.append(f"script: {error.error}")

    def _note_request(self, request: Request) -> None:
        url = request.url
        if not url.startswith(("data:", "blob:")) and not self._is_ours(url):
            self._found.append(f"requests another site: {request.method} {url}")

    def _is_ours(self, url: str) -> bool:
        sites = (self._base, *self._allowed)
        return any(urlsplit(url)[:2] == urlsplit(site)[:2] for site in sites)

    def _note_failure(self, request: Request) -> None:
        # Leaving a page aborts its requests. Requests that a policy blocks appear in the console.
        if request.failure not in ("net::ERR_ABORTED", "NS_BINDING_ABORTED", "csp"):
            self._found.append(f"{request.failure}: {request.method} {request.url}")

    def _note_response(self, response: Response) -> None:
        request = response.request
        status = response.status
        is_refused_form = request.method != "GET" and request.resource_type in _READ
        if status < 400 or (status < 500 and is_refused_form) or status in self._expected:
            return
        self._found.append(f"{status}: {request.method} {response.url}")


def as_lines(found: Iterable[str]) -> str:
    return "\n".join(["", *found])
