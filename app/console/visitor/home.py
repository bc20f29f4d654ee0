"""The start page of the console, which welcomes developers in debug mode."""

from flask import Response, current_app, url_for

from ...accounts.service import Accounts
from ...core.context import current_frontdesk, find_context, service
from ...core.web.operation import anyone
from ..first_run.first_root import ROOT, FirstRoot
from ..first_run.outbox import count_emails, has_outbox, is_local_request
from ..links import redirect, redirect_to
from ..navigation import home_path
from ..pages import is_signed_in, render_page

DOCUMENTATION = "https://flask-frontdesk.readthedocs.io"


@anyone
def home() -> Response:
    if is_signed_in():
        return redirect(home_path())
    return greeting() if is_greeted() else redirect_to(".sign_in_page")


def is_greeted() -> bool:
    return current_app.debug and is_local_request()


def greeting() -> Response:
    has_reference = "docs.page" in current_app.view_functions
    first_root = FirstRoot(find_context())
    email = current_frontdesk.settings.top_level("FIRST_SUPERUSER")
    account = service(Accounts).find(email) if email else None
    return render_page(
        "first_run/greeting.html",
        # The page is visible only on this machine, as are the emails with links to reset passwords.
        first_root_token=first_root.token() if first_root.is_missing() else None,
        first_root=email if account is not None and account.role == ROOT else None,
        reference=url_for("docs.page") if has_reference else None,
        documentation=DOCUMENTATION,
        mails=count_emails() if has_outbox() else None,
    )
