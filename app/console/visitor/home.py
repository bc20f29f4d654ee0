"""The start page of the console, which welcomes developers in debug mode."""

from flask import Response, current_app, url_for

from ...core.context import current_frontdesk
from ...core.web.operation import anyone, hidden
from ..first_run.outbox import count_emails, has_outbox, is_local_request
from ..links import redirect_to
from ..pages import is_signed_in, render_page

DOCUMENTATION = "https://flask-frontdesk.readthedocs.io"


@anyone
@hidden
def home() -> Response:
    if is_signed_in():
        return redirect_to(".dashboard")
    return greeting() if is_greeted() else redirect_to(".sign_in_page")


def is_greeted() -> bool:
    return current_app.debug and is_local_request()


def greeting() -> Response:
    has_reference = "docs.page" in current_app.view_functions
    return render_page(
        "first_run/greeting.html",
        first_root=current_frontdesk.settings.top_level("FIRST_SUPERUSER"),
        reference=url_for("docs.page") if has_reference else None,
        documentation=DOCUMENTATION,
        mails=count_emails() if has_outbox() else None,
    )
