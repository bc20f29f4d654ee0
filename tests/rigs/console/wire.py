"""What a page weighs on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

KIB = 1024
FIRST_PAGE, FOLLOWING_PAGE = 60 * KIB, 12 * KIB


@dataclass
class Weight:
    """By address; what the browser has already weighs nothing."""

    by_url: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.by_url.values())

    def __str__(self) -> str:
        lines = (f"{size:7d} {url}" for url, size in sorted(self.by_url.items()))
        return "\n".join([f"{self.total} bytes", *lines])


def forget_files(page: Page) -> None:
    """As a browser that has never been here; who is signed in stays so."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("Network.clearBrowserCache")
    cdp.detach()


@contextmanager
def weighed(page: Page) -> Iterator[Weight]:
    """Whatever the page receives meanwhile: heads and bodies, as compressed as they come."""
    cdp, weight = page.context.new_cdp_session(page), Weight()
    urls: dict[str, str] = {}

    def begun(event: dict[str, Any]) -> None:
        urls[event["requestId"]] = event["request"]["url"]

    def finished(event: dict[str, Any]) -> None:
        url = urls.get(event["requestId"], "?")
        if not url.startswith(("data:", "blob:")):
            size = int(event["encodedDataLength"])
            weight.by_url[url] = weight.by_url.get(url, 0) + size

    cdp.on("Network.requestWillBeSent", begun)
    cdp.on("Network.loadingFinished", finished)
    cdp.send("Network.enable")
    yield weight
    page.wait_for_load_state("networkidle")
    cdp.detach()
