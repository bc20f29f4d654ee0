"""The console's own address, and what a developer sees there who has just started Frontdesk."""

from flask import Response, current_app, url_for

from ...core.context import current_frontdesk
from ...core.web.operation import anyone, hidden
from ..first_run.outbox import count, is_near, is_written
from ..pages import page, somebody_is_in
from ..ways import go

DOCUMENTATION = "https://flask-frontdesk.readthedocs.io"


@anyone
@hidden
def home() -> Response:
    if somebody_is_in():
        return go(".dashboard")
    return greeting() if is_greeted() else go(".sign_in_page")


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
