"""The number of bytes that a page transfers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

KIB = 1024
FIRST_PAGE, FOLLOWING_PAGE = 50 * KIB, 12 * KIB
# The page with every part, which exists only in debug mode.
DESIGN_PAGE = 56 * KIB


@dataclass
class Weight:
    """Bytes by URL; cached files have none."""

    by_url: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.by_url.values())

    def __str__(self) -> str:
        lines = (f"{size:7d} {url}" for url, size in sorted(self.by_url.items()))
        return "\n".join([f"{self.total} bytes", *lines])


def forget_files(page: Page) -> None:
    """Clear the browser's cache, but not its cookies."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("Network.clearBrowserCache")
    cdp.detach()


@contextmanager
def weighed(page: Page) -> Iterator[Weight]:
    """Record what the page receives in the block: headers and compressed bodies."""
    cdp, weight = page.context.new_cdp_session(page), Weight()
    urls: dict[str, str] = {}

    def record_url(event: dict[str, Any]) -> None:
        urls[event["requestId"]] = event["request"]["url"]

    def record_size(event: dict[str, Any]) -> None:
        url = urls.get(event["requestId"], "?")
        if not url.startswith(("data:", "blob:")):
            size = int(event["encodedDataLength"])
            weight.by_url[url] = weight.by_url.get(url, 0) + size

    cdp.on("Network.requestWillBeSent", record_url)
    cdp.on("Network.loadingFinished", record_size)
    cdp.send("Network.enable")
    yield weight
    page.wait_for_load_state("networkidle")
    cdp.detach()
