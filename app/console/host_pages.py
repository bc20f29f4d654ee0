"""Pages of the host's own, beside ours."""

from __future__ import annotations

from typing import Any

from flask.sansio.app import App

from ..core.context import Context


def add_host_pages(app: App, context: Context, name: str, options: dict[str, Any]) -> None:
    """In the console's own blueprint, so that its errors, headers and guards hold for them."""
