"""What somebody sees who has just started Frontdesk on their own machine."""

from __future__ import annotations

from flask import Response, current_app, url_for

from ...core.context import current_frontdesk
from ..pages import page
from .near import is_near
from .outbox import count, is_written

DOCUMENTATION = "https://flask-frontdesk.readthedocs.io"


def is_greeted() -> bool:
    return current_app.debug and is_near()


def greeting() -> Response:
    has_reference = "docs.page" in current_app.view_functions
    return page(
        "first_run/greeting.html",
        first_root=current_frontdesk.settings.top_level("FIRST_SUPERUSER"),
        reference=url_for("docs.page") if has_reference else None,
        documentation=DOCUMENTATION,
        mails=count() if is_written() else None,
    )
