"""Pages that show the mails which nobody was sent, while developing."""

from __future__ import annotations

from flask import Response, request

from ...core.web.operation import anyone, hidden
from ..blueprint import POLICY
from ..pages import page
from .outbox import names, opened, read

PER_PAGE = 25
# What a mail brings must not run, ask anybody for anything, or lead the page around it away.
MAIL_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'self'; sandbox"
)


@anyone
@hidden
def mails_page() -> Response:
    folder = opened()
    found = names(folder)
    start = max(request.args.get("from", 0, type=int), 0)
    shown = [read(folder, name) for name in found[start : start + PER_PAGE]]
    return page("first_run/mails.html", mails=shown, start=start, total=len(found), step=PER_PAGE)


@anyone
@hidden
def mail_page(name: str) -> Response:
    response = page("first_run/mail.html", mail=read(opened(), name))
    response.headers["Content-Security-Policy"] = f"{POLICY}; frame-src 'self'"
    return response


@anyone
@hidden
def mail_html(name: str) -> Response:
    response = Response(read(opened(), name).html, mimetype="text/html")
    response.headers["Content-Security-Policy"] = MAIL_POLICY
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    return response
