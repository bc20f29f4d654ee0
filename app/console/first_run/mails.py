"""Pages that show the mails which nobody was sent, while developing."""

from __future__ import annotations

from flask import Response, request

from ...core.web.operation import anyone, hidden
from ..pages import framed, page
from .outbox import names, opened, read

PER_PAGE = 25


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
    return page("first_run/mail.html", mail=read(opened(), name))


@anyone
@hidden
def mail_html(name: str) -> Response:
    return framed(read(opened(), name).html)
